import { groups } from './commands/groups.ts';

/** The command that starts this program. Only a checkout runs the source. */
export const ownCommand: string = import.meta.url.endsWith('.ts') ? 'npm run holdfast --' : 'holdfast';

const usage = `Usage: holdfast [options] [command]

Runs governed tools: every call is checked, approved if necessary, rolled back on failure, and recorded.
`;

const options = [
  ['-V, --version', 'print the version'],
  ['-h, --help', 'print help'],
  ['help [command]', 'print help for a command'],
] as const;

const footer = `
Examples:
  $ holdfast doctor                              check that everything a run needs is in place
  $ holdfast run "Count the words in README.md"
  $ holdfast plan "Read README.md and write it to copy.md" --run      compile and check a plan, then run only that
  $ holdfast trace                               show how the last plan went
  $ holdfast new tool make_slug                  create your own tool; see also \`try\`, \`check\` and \`lock\`
  $ holdfast show                                show calls, decisions and changes
  $ holdfast why call-2                          explain why a call ran or not
  $ holdfast config                              show plugins, packs and limits, and their origin
  $ holdfast pending                             list pending, interrupted and in-doubt calls
  $ holdfast resume                              resume a suspended or interrupted run
  $ holdfast model list                          list small language models for --model local:NAME
  $ holdfast run --help                          models, approvals and more examples

Exit codes:
  0    success; for run: the run completed, even if calls were denied; for plan run: every node succeeded
  1    failure: an incomplete run or plan, no plan for a request, an invalid tool file, a damaged log, any other error
  2    wrong usage: invalid arguments or configuration, or something named does not exist
  3    run, plan run, resume: suspended until a person answers; see \`holdfast pending\`
  4    the code in this folder is not trusted; see \`holdfast trust --help\`
  130  Ctrl-C: the run ends cleanly; a second Ctrl-C exits at once (143: SIGTERM, 129: terminal closed)

Commands of plugins run as \`holdfast NAME\`; \`holdfast list --tree\` lists them.
Set NO_COLOR to disable colors, HOLDFAST_DEBUG=1 to print stack traces.`;

export interface HelpPlace {
  /** The command that starts this program. */
  readonly command: string;
  /** The terminal's width; absent or 0 if unknown. */
  readonly columns?: number | undefined;
}

/** The program's help, made from the list of commands without loading them. */
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
  const here = command === 'holdfast' ? '' : `\nIn this checkout, run \`${command}\` instead of \`holdfast\`.`;
  return `${usage}\n${lines.join('\n')}${footer}${here}\n`;
}

/** The width of help: the terminal's, limited to readable lines. */
export function helpWidth(columns: number | undefined): number {
  return Math.min(columns || 100, 120);
}

function wrap(text: string, room: number): readonly string[] {
  return text.match(new RegExp(`.{1,${Math.max(room, 20)}}(?= |$)`, 'g'))?.map((line) => line.trim()) ?? [];
}
