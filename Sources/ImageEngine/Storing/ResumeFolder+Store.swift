extension PartialFile: ResumableBody {}
extension ResumeFolder: ResumeStore {}
extension SharedLines: LineStore {}
