import { groups } from './commands/groups.ts';

/** How this program is called. Only a checkout runs the source. */
export const ownCommand: string = import.meta.url.endsWith('.ts') ? 'npm run holdfast --' : 'holdfast';

const usage = `Usage: holdfast [options] [command]

Runs governed tools: every call is checked, approved where it must be, undone when it fails, and recorded.
`;

const options = [
  ['-V, --version', 'print the version'],
  ['-h, --help', 'print help'],
  ['help [command]', 'print help for a command'],
] as const;

const footer = `
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

export interface HelpPlace {
  /** How the program is called. */
  readonly command: string;
  /** Of the terminal; absent, or 0, where nobody knows. */
  readonly columns?: number | undefined;
}

/** The help of the program as a whole, from the list of commands alone: it is asked for before anything is loaded. */
export function formatHelp({ command, columns }: HelpPlace): string {
  const parts = [
    { heading: 'Options:', rows: options },
    ...groups.map(({ heading, commands }) => ({
      heading,
      rows: commands.map(({ name, term, description }) => [`${name} ${term}`.trim(), description] as const),
    })),
  ];
  const width = Math.max(...parts.flatMap(({ rows }) => rows.map(([term]) => term.length)));
  const room = helpWidth(columns) - width - 4;
  const lines = parts.flatMap(({ heading, rows }) => [
    heading,
    ...rows.map(([term, text]) => `  ${term.padEnd(width)}  ${wrap(text, room).join(`\n${' '.repeat(width + 4)}`)}`),
    '',
  ]);
  const here = command === 'holdfast' ? '' : `\nHere, \`holdfast\` is \`${command}\`.`;
  return `${usage}\n${lines.join('\n')}${footer}${here}\n`;
}

/** What help is fitted into: the terminal, but no longer lines than can be read. */
export function helpWidth(columns: number | undefined): number {
  return Math.min(columns || 100, 120);
}

function wrap(text: string, room: number): readonly string[] {
  return text.match(new RegExp(`.{1,${Math.max(room, 20)}}(?= |$)`, 'g'))?.map((line) => line.trim()) ?? [];
}
