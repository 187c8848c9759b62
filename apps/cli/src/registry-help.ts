// What stands behind the lists of options in the help of the commands about plugins and packs.

export const listHelp: string = `
Examples:
  $ holdfast list
  $ holdfast list --tools examples/plugins --json
  $ holdfast list --tools plugins --subfolders    also the folders in it
  $ holdfast list --tree                          by plugin: what each brings along, and where it came from
  $ holdfast list --json | jq -r '.[] | [.name, .provenance.package, .provenance.version] | @tsv'

A plugin that cannot be used is told on standard error, and the others are listed. Exits with 2 when the configuration is wrong, or a
pack cannot be put in force.`;

export const explainHelp: string = `
Examples:
  $ holdfast explain push             whatever has this name: a tool, a command, a policy, a section, …
  $ holdfast explain git/push         as a host calls it
  $ holdfast explain git_push         as a model sees it, with the prefix that the host chose
  $ holdfast explain push --json | jq -r '.[].provenance.package'

Says who brought it along (plugin, package, version, file, digest), whether it is in force, and why not. Exits with 2 when nothing
has the name.`;

export const configHelp: string = `
Examples:
  $ holdfast config                       what a run would have, each value with where it comes from
  $ holdfast config --config ci/holdfast.config.ts --workspace ~/project
  $ holdfast config --json | jq '.settings[] | select(.key == "denyTools")'

In this order, the later one counts: defaults; holdfast.config.ts of the current folder, or --config; holdfast.policy.json of the
workspace; the command line. The workspace can only make things tighter: what is looser is not taken, and told. Of a plugin's options
only the names are shown. Exits with 2 when a file is wrong: everything that is wrong is told, and nothing runs with it.`;

export const pluginsHelp: string = `
Examples:
  $ holdfast plugins                      what is installed here and declares itself, and what of it is in force
  $ holdfast plugins --json | jq -r '.[] | select(.state == "not named").package'

A package declares itself by "holdfast": "plugin" or "pack" in its package.json. Nothing is taken from node_modules that
holdfast.config.ts does not name. Exits with 1 when something that it names is not in force.`;
