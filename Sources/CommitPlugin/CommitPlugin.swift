import Foundation
import PackagePlugin

/// Writes the Git commit of the sources, and its day, into the target that uses the plugin, as `sourceCommit`: for `halcyon --version`.
///
/// It runs before each build, as only Git knows when there is another commit, and leaves its file alone when it says so already:
/// nothing is compiled then. Without Git, as in an archive of the sources, `sourceCommit` is nil.
@main
struct CommitPlugin: BuildToolPlugin {
    /// `$1` is the folder of the package, which must be the top of a repository: the commit of one around it says nothing of
    /// these sources. `$2` is the folder to write to.
    static let script = """
        commit=
        if [ -e "$1/.git" ]; then
            commit=$(git -C "$1" log -1 --no-show-signature --abbrev=12 --date=short --format='%h, %cd' 2>/dev/null)
            if [ -n "$commit" ] && [ -n "$(git --no-optional-locks -C "$1" status --porcelain --untracked-files=no 2>/dev/null)" ]; then
                commit="$commit, changed"
            fi
        fi
        value=nil
        if [ -n "$commit" ]; then value="\\"$commit\\""; fi
        line="let sourceCommit: String? = $value"
        file="$2/SourceCommit.swift"
        if [ "$(cat "$file" 2>/dev/null)" != "$line" ]; then printf '%s\\n' "$line" > "$file"; fi
        """

    func createBuildCommands(context: PluginContext, target: any Target) -> [Command] {
        let folder = context.pluginWorkDirectoryURL
        return [
            .prebuildCommand(
                displayName: "Find the commit of the sources",
                executable: URL(filePath: "/bin/sh"),
                arguments: [
                    "-c", Self.script, "sh", context.package.directoryURL.path(percentEncoded: false),
                    folder.path(percentEncoded: false),
                ],
                outputFilesDirectory: folder)
        ]
    }
}
