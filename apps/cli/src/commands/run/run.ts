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
  $ holdfast run "Delete every file matching *.log" --unattended        ask nothing: dangerous calls are denied
  $ holdfast run "Delete every file matching *.log" --suspend           wait for \`holdfast approve\`
  $ holdfast run "Delete every file matching *.log" --allow delete_files
  $ holdfast run "Delete every file matching *.log" --locked --unattended     for CI: only locked tools
  $ holdfast run "Delete every file matching *.log" --yes --order glob_files,delete_files      look first
  $ holdfast run "Summarize docs" --model openai:gpt-5 --max-calls 50 --max-tokens 100000 --timeout 120
  $ holdfast run "Count the words in README.md" --json | jq -r .type
  $ holdfast run "How warm is it in Rome?" --env WEATHER_API_KEY      pass a variable to the tool files that declare it
  $ holdfast run "Write the notes" --model script:notes.json
  $ holdfast run "Summarize README.md" --model openai:gpt-5      after \`npm install @ai-sdk/openai\`
  $ holdfast run - < request.txt      for requests too long for a command line
  $ holdfast run "Summarize docs" --config ci/holdfast.config.ts      use another configuration file

Models:
  offline        rules instead of a language model; needs no network and no key
  local          a tiny language model in this process that only chooses a tool; makes many mistakes, prints results unchanged
  local:<file.gguf>, local:<name>
                 a local model by file, or by its name in \`holdfast model list\`; HOLDFAST_LOCAL_THREADS=4 uses four threads
  script:<file>  replays messages from a JSON file: { "turns": [{ "calls": [{ "name": …, "arguments": … }] }, { "text": … }] }
  <provider>:<model>
                 through the installed package @ai-sdk/<provider>, with its key in the environment:
                 openai:gpt-5, anthropic:claude-sonnet-4-5, google:gemini-2.5-pro
  <package>:<model>
                 through any other AI SDK provider package, such as @acme/provider:one
  <plugin>/<model>
                 from a configured plugin
  ollama:<model> from Ollama on this machine or at OLLAMA_HOST, through @ai-sdk/openai-compatible
  openai-compatible:<model>
                 from the server at OPENAI_COMPATIBLE_BASE_URL, with OPENAI_COMPATIBLE_API_KEY if it needs a key
  Without --model, the offline model is used. At a terminal you are first offered providers whose key is set and a local Ollama; your
  choice is saved in your user folder and shown by \`holdfast doctor\`.

Limits:
  --max-rounds (default 32), --max-calls, --max-tokens, --timeout: a run that would exceed a limit exits with 1, keeps the
  effects of its calls and reports what it used. Token counts are those reported by the model.

Approvals:
  You are asked at the terminal: allow once, allow for this run, deny, or decide later. Without a terminal, or with --unattended, the
  call is denied. With --suspend, or after "decide later", the run suspends and exits with 3: \`holdfast pending\` lists the calls,
  \`approve\` and \`deny\` answer them, \`resume\` continues. After 24 hours (--approval-timeout) an unanswered call is denied.

Secrets:
  Passwords, tokens and fields marked in schemas are masked in the log, with a key in HOLDFAST_HOME (default ~/.config/holdfast).
  --no-redact logs them in plain text. Only you can \`resume\` a call that needs one.

Tool files:
  Each tool runs in its own process, which is killed when its call times out. --isolation sandbox (needs bubblewrap) also blocks the
  network and file writes. --isolation in-process is faster, but the tool can stop or block this program: use it only for code you
  trust as your own. A tool file may ask for stricter isolation, never for looser. \`holdfast doctor\` shows what is available here.
  If there is a holdfast.lock beside the folder, only tools that match it run; --locked requires one. Subfolders are read only with
  --subfolders.

Configuration:
  holdfast.config.ts in the current folder names plugins, packs, limits and allowed tools; \`holdfast config\` prints the effective
  values. Options override it. Code found here, including ./plugins, runs only once you trust it: at the terminal, with
  \`holdfast trust\` or with --trust. Code named by --config or --tools needs no trust. A plugin that fails to load is left out. If a pack
  fails to load, nothing runs and the exit code is 2.

Session log:
  <workspace>/.holdfast/sessions/<id>.jsonl; print it with \`holdfast show\`.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command.argument('<request>', 'what to do, in quotes; - reads standard input');
  addPlaceOptions(command, 'require a holdfast.lock for the tools folder')
    .option(
      '--model <model>',
      'offline, local, local:<file>, script:<file>, <provider>:<model> or <plugin>/<model> (default: offline)',
    )
    .option('--json', 'print JSON lines, one per event');
  addLimitOptions(
    addRedactOption(addApprovalOptions(addQuietOption(command))).option(
      '--order <tools>',
      'a,b,c: b runs only after a has succeeded, c only after b; repeatable',
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
