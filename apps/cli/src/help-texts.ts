// What stands behind the lists of options in the help of each command.

export const exitCodes: string = `
Examples:
  $ holdfast doctor                              is everything here that a run needs?
  $ holdfast run "Count the words in README.md"
  $ holdfast plan "Read README.md and write it to copy.md" --run      first a plan, which is checked, and then nothing but the plan
  $ holdfast trace                               what became of the last plan
  $ holdfast new tool make_slug                  a tool of your own; \`try\`, \`check\` and \`lock\` are about it
  $ holdfast show                                what was called, decided and changed
  $ holdfast why call-2                          why that call ran, or did not
  $ holdfast config                              plugins, packs and limits that are in force, and whose they are
  $ holdfast pending                             what waits for an answer, was interrupted or is in doubt
  $ holdfast resume                              go on with a run that waited or was killed
  $ holdfast model list                          small language models to download, for --model local:NAME
  $ holdfast run --help                          models, approvals, more examples

Exit codes:
  0    the command did its work; for run: the run completed (a call that was denied is part of a completed run); for plan run: every
       node succeeded
  1    it did not: a run or plan that ended otherwise, no plan for a request, a bad tool file, a damaged log, an error
  2    the command line or the configuration is wrong, or names what is not there
  3    run, plan run, resume: it waits for a person; \`holdfast pending\` shows for what
  4    code that was found in this folder is not trusted, and nobody said yes; \`holdfast trust --help\` has the ways to go on
  130  Ctrl-C; the log of the run has its end. A second Ctrl-C does not wait for that. (143: SIGTERM, 129: the terminal was closed)

Where a plugin has a command, \`holdfast NAME\` runs it; \`holdfast list --tree\` names them.
NO_COLOR turns colours off, HOLDFAST_DEBUG=1 shows the stacks of errors.`;

export const runHelp: string = `
Examples:
  $ holdfast run "List every TODO comment in the sources and write them to report.md"
  $ holdfast run "Sum the column amount in data/sales.csv" --workspace ~/project --tools ./plugins
  $ holdfast run "Delete every file matching *.log" --unattended        nobody is asked: dangerous calls are denied
  $ holdfast run "Delete every file matching *.log" --suspend           it waits for \`holdfast approve\`
  $ holdfast run "Delete every file matching *.log" --allow delete_files
  $ holdfast run "Delete every file matching *.log" --locked --unattended     for CI: only tools that somebody has locked
  $ holdfast run "Delete every file matching *.log" --yes --order glob_files,delete_files      look first
  $ holdfast run "Summarise docs" --model openai:gpt-5 --max-calls 50 --max-tokens 100000 --timeout 120
  $ holdfast run "Count the words in README.md" --json | jq -r .type
  $ holdfast run "How warm is it in Rome?" --env WEATHER_API_KEY      a variable for the tool files that declare it
  $ holdfast run "Write the notes" --model script:notes.json
  $ holdfast run "Summarise README.md" --model openai:gpt-5      after \`npm install @ai-sdk/openai\`
  $ holdfast run - < request.txt      a request that is too long for a command line
  $ holdfast run "Summarise docs" --config ci/holdfast.config.ts      plugins and guards of another file than ./holdfast.config.ts

Models:
  offline        rules, no network and no key; a stand-in, not a language model
  local          a tiny language model in this process: it chooses a tool, and makes many mistakes; results are printed as they are
  local:<file.gguf>, local:<name>
                 any other one in such a file, or by its name in \`holdfast model list\`; HOLDFAST_LOCAL_THREADS=4 lets it use four threads
  script:<file>  plays the messages in a JSON file, { "turns": [{ "calls": [{ "name": …, "arguments": … }] }, { "text": … }] }
  <provider>:<model>
                 through the package @ai-sdk/<provider> that you installed here, with its key in the environment:
                 openai:gpt-5, anthropic:claude-sonnet-4-5, google:gemini-2.5-pro
  <package>:<model>
                 through any other AI SDK provider, as @acme/provider:one
  <plugin>/<model>
                 of a plugin that the configuration names
  ollama:<model> of an Ollama on this machine or at OLLAMA_HOST, through @ai-sdk/openai-compatible
  openai-compatible:<model>
                 at the server OPENAI_COMPATIBLE_BASE_URL, with OPENAI_COMPATIBLE_API_KEY if it wants one
  Without --model it is offline. At a terminal, a provider whose key is set and an Ollama on this machine are offered first; a yes is
  kept in your own folder, and \`holdfast doctor\` shows it.

Limits:
  --max-rounds (32 unless set), --max-calls, --max-tokens, --timeout: a run that reaches one ends with 1, keeps what its calls
  have done, and says what was used of what. Exactly the limit may be used. Tokens are those that the model reports.

Approvals:
  A call that needs one is asked for at the terminal: once, for this run, no, or later. Without a terminal, or with --unattended, it
  is denied. With --suspend nobody is asked: the run waits, as after "later", and ends with exit code 3. \`holdfast pending\` shows
  what waits, \`approve\` and \`deny\` answer, \`resume\` goes on; what is not answered in 24 hours (--approval-timeout) is denied.

Secrets:
  Passwords, tokens and what schemas mark have masks in the log, made with your own key in HOLDFAST_HOME (else ~/.config/holdfast).
  --no-redact writes them as they are. \`resume\` by another user cannot run a call that needs one.

Tools of the folder:
  Each runs in a process of its own, which is killed when the time of its call is over. --isolation sandbox wants bubblewrap, and also
  takes the network and every write to a file from it. --isolation in-process is for a folder whose code you trust as your own: it is
  faster, and such a tool can end or block this program. A tool file may ask for more than the option, never for less. What there
  is here, \`holdfast doctor\` says.
  With a holdfast.lock beside the folder only what is as it says runs, and with --locked nothing does without one. Of the folders in it
  nothing is read without --subfolders.

Configuration:
  holdfast.config.ts of the current folder names plugins, packs, limits and which tools may run; \`holdfast config\` prints what is in
  force. Options here count more than it. What is found here, also ./plugins, runs only after a yes: at the terminal, by
  \`holdfast trust\`, or by --trust; what --config and --tools name needs none. A plugin that cannot be used is left out. When a pack cannot be put in force, nothing runs,
  and the exit code is 2.

Session log:
  <workspace>/.holdfast/sessions/<id>.jsonl; see it with \`holdfast show\`.`;

export const showHelp: string = `
Examples:
  $ holdfast show                               the newest session of this folder
  $ holdfast show 20260517-093012345-k3x9 --workspace ~/project
  $ holdfast show --json | jq 'select(.type == "tool-call-end").outcome.kind'

Exits with 1 when the log is torn or was changed after it was written.`;

export const whyHelp: string = `
Examples:
  $ holdfast why call-2                         a call of the newest session; \`holdfast show\` has the ids
  $ holdfast why 20260517-093012345-k3x9 call-2 --workspace ~/project
  $ holdfast why call-2 --json | jq '.uses[].decisions'

The beginning of an id will do where only one call has it. Several calls of one id are told in order.
Exits with 1 when the log is torn or was changed after it was written.`;

export const replayHelp: string = `
Examples:
  $ holdfast replay                             the state at the end of the newest session of this folder
  $ holdfast replay 20260517-093012345-k3x9 --at 12
  $ holdfast replay --json | jq '.slices[] | select(.id == "holdfast/grants").state'

Exits with 1 when the log is torn or was changed after it was written, or when the state of a slice needs code that is not part
of this program; what can be rebuilt is printed all the same.`;

export const verifyHelp: string = `
Examples:
  $ holdfast verify                             the log of the newest session of this folder
  $ holdfast verify 20260517-093012345-k3x9 --head 3b1f…
  $ holdfast verify --json | jq -r .head        what to note elsewhere

Every edit breaks the chain of hashes, except an end that is cut off or written anew at the edge of a record: that shows only
against a head that was noted before. Exits with 1 when something is wrong.`;

export const checkHelp: string = `
Examples:
  $ holdfast check plugins
  $ holdfast check plugins --strict     warnings are errors
  $ holdfast check plugins --subfolders also the folders in it
  $ holdfast check plugins --watch      again whenever something changes, until Ctrl-C
  $ holdfast check plugins --json

No line of a tool file runs. Exits with 1 when a file is refused; a watch that is ended by Ctrl-C exits with 0.`;

export const tryHelp: string = `
Examples:
  $ holdfast try plugins/make_slug.mjs                    its examples, and the first one once more
  $ holdfast try plugins/make_slug.mjs --input '{"title": "Hello"}'
  $ holdfast try plugins/summarize.mjs --input '{"path": "data.csv"}' --workspace .
  $ holdfast try plugins/erase.mjs --input '{}' --allow erase
  $ holdfast try plugins/make_slug.mjs --json | jq '.calls[].outcome.text'

The file is checked as \`check\` does, whatever is locked. Then each example is called and compared with what it says, and the input is
called twice and compared with itself; a difference there is told and is no error. A tool with effects outside that may not be
repeated is called once. Each call finds the same files, and what it writes through its context is shown and then dropped; what it
does by itself, with node:fs or the network, is done. Other tools are not there.

Nobody is asked without a terminal: a dangerous tool is denied there unless --allow names it. Ctrl-C ends a call. The tool runs
in a process of its own, as in a run; of a configuration only its isolation counts here. With --isolation in-process, one that
never lets go of its thread keeps Ctrl-C and --timeout from being seen (Ctrl-\\ ends the program then). Exits with 1 when the
file is refused, a call does not succeed, or an example is not as it says.`;

export const newHelp: string = `
Examples:
  $ holdfast new tool make_slug                 writes ./plugins/make_slug.mjs
  $ holdfast new tool make_slug --typescript    writes ./plugins/make_slug.mts
  $ holdfast new tool make_slug --tools tools
  $ holdfast new pack @acme/git-safety          writes ./git-safety: a pack of policies with its cases and tests
  $ holdfast new plugin text-tools              writes ./text-tools: a plugin with a tool and its test

Nothing is written over what is there.`;

export const lockHelp: string = `
Examples:
  $ holdfast lock                        writes holdfast.lock beside the tools folder; put it under version control
  $ holdfast lock --check                for CI: exits with 1 when anything differs
  $ holdfast lock --accept make_slug     shows what differs in one tool, and locks it as it is now
  $ holdfast lock --accept plugin:git    the same for a plugin, or with pack:NAME for a pack
  $ holdfast lock --check --accept make_slug   only shows it
  $ holdfast lock --subfolders           also the folders in it; a run takes them with --subfolders, too
  $ holdfast lock --check --json | jq -r '.tools[] | select(.state != "same").name'

What is locked: each tool file and what it imports by path, byte by byte; versions of packages; schema, description and what else the
file says. Of the plugins and packs that the configuration names: what they declare, and the file that is imported. Once there is a
lock, a tool or plugin that differs is not used, and nothing runs with a pack that does. Here, no line of a tool file runs; plugins are
imported. Exits with 1 when a file is refused, or a plugin cannot be loaded.`;

export const doctorHelp: string = `
Examples:
  $ holdfast doctor
  $ holdfast doctor --workspace ~/project --json

The Python is the one of the PATH, in which tool files in Python run. An Ollama on this machine is asked for its models, once. Nothing is
written, and of a key only whether it is set is said. Exits with 1 when something keeps \`run\` from working.`;

export const overridesHelp: string = `
Examples:
  $ holdfast overrides seed src/prompt.ts       writes .holdfast/overrides/<ns>/<key>/latest.json, to be edited
  $ holdfast overrides status src/prompt.ts     what is in force, and what was left out and why
  $ holdfast overrides diff src/prompt.ts --tag short
  $ holdfast overrides status src/prompts.ts --export support --json | jq .ok

Each override is pinned to a hash of the text that it replaces, and stale when that text has changed. A file that is there is never
written over. Exits with 1 when something that a person wrote is not in force, and with 2 when there are no overrides.`;
