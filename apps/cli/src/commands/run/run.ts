import type { Command } from 'commander';
import {
  addApprovalOptions,
  addLimitOptions,
  addPlaceOptions,
  addQuietOption,
  addRedactOption,
  toWork,
  type WorkFlags,
} from '../../flags/approval.ts';
import type { CommandContext } from '../../flags/command.ts';
import { collectNames } from '../../flags/values.ts';
import { readRequest } from '../../terminal/request.ts';

const help = `
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

export function declare(command: Command, { host, end }: CommandContext): void {
  command.argument('<request>', 'what to do, in quotes; - reads it from standard input');
  addPlaceOptions(command, 'do not run unless holdfast.lock says which tools of the folder may run')
    .option(
      '--model <model>',
      'offline, local, local:<file>, script:<file>, <provider>:<model> or <plugin>/<model> (default: offline)',
    )
    .option('--json', 'one JSON event a line on stdout, and nothing else there');
  addLimitOptions(
    addRedactOption(addApprovalOptions(addQuietOption(command))).option(
      '--order <tools>',
      'a,b,c: b runs only after a has succeeded, c only after b; may be repeated',
      collectNames,
    ),
  )
    .addHelpText('after', help)
    .action(async (given: string, flags: WorkFlags) => {
      const { runRequest } = await import('../../run/request.ts');
      const { approval = 'ask', ...work } = toWork(flags);
      const request = await readRequest(given, host);
      end(await runRequest({ ...work, approval, request, stdinTaken: given === '-' }, host));
    });
}
