extension PartialFile: ResumableBody {}
extension ResumeFolder: ResumeStore {}
