import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { holdfast, pluginsFolder, root } from './holdfast.ts';
import { copySample } from './sample.ts';

interface Step {
  readonly title: string;
  readonly why: string;
  words(workspace: string): readonly string[];
  /** A difference from the step's description, or `undefined`. */
  findProblem(copy: string): string | undefined;
}

const reportRequest = 'List every TODO comment in the sources and write them to report.md';
const blindWrite = relative(process.cwd(), join(root, 'tooling/start/blind-write.json'));

const steps: readonly Step[] = [
  {
    title: 'A request, done with tools',
    why: 'The offline stand-in selects tools and fills in their arguments. It follows rules\nand is not a language model.',
    words: (workspace) => ['run', reportRequest, ...byStandIn, ...over(workspace)],
    findProblem: (copy) => (existsSync(join(copy, 'report.md')) ? undefined : 'no report.md was written'),
  },
  {
    title: 'A dangerous call without approval',
    why: 'The tool that deletes files is marked as dangerous. Without --unattended you\nwould be asked at the terminal; here it is denied.',
    words: (workspace) => [
      'run',
      'Delete all files that match the pattern "scripts/*"',
      '--unattended',
      ...byStandIn,
      ...over(workspace),
    ],
    findProblem: (copy) => (readOutcomes(copy).includes('delete_files denied') ? undefined : 'no call was denied'),
  },
  {
    title: 'Overwriting a file that was not read',
    why: 'A recorded model writes blindly. The policy denies it and returns the reason,\nand the model reads first. Nothing is lost.',
    words: (workspace) => [
      'run',
      'Mention report.md in the README',
      '--model',
      `script:${blindWrite}`,
      ...over(workspace),
    ],
    findProblem(copy) {
      const outcomes = readOutcomes(copy).join(', ');
      return outcomes === 'write_file denied, read_file ok, edit_file ok' ? undefined : `the calls were: ${outcomes}`;
    },
  },
  {
    title: 'What was recorded',
    why: 'Every call of that run with its decision and outcome, from the session log,\nwhose hash chain shows later changes.',
    words: (workspace) => ['show', '--workspace', workspace],
    findProblem: () => undefined,
  },
];

// Independent of keys and servers: the demo is the same everywhere.
const byStandIn = ['--model', 'offline'];

function over(workspace: string): readonly string[] {
  return ['--tools', pluginsFolder, '--workspace', workspace];
}

/** Runs the steps over one copy of the sample project; returns 0 if each matched its description. */
export async function runDemo(): Promise<number> {
  const copy = copySample();
  const place = relative(process.cwd(), copy);
  const problems: string[] = [];
  console.log(`Holdfast in ${steps.length} steps, in a copy of the sample project:\n${place}`);
  for (const [index, step] of steps.entries()) {
    const words = step.words(place);
    console.log(`\n--- ${index + 1}. ${step.title}\n${step.why}\n`);
    console.log(`$ npm run holdfast -- ${words.map(quote).join(' ')}\n`);
    const exitCode = await holdfast(words);
    const problem = exitCode === 0 ? step.findProblem(copy) : `it ended with ${exitCode}`;
    if (problem !== undefined) problems.push(`Step ${index + 1} did not end as described: ${problem}.`);
  }
  console.log(`\nThe files are in ${place}.`);
  console.log('Next: npm start -- "your request" [--workspace DIR]');
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

function quote(word: string): string {
  return /^[\w./:=-]+$/.test(word) ? word : `'${word}'`;
}

/** Name and outcome of each call in the newest session, e.g. `read_file ok`. */
function readOutcomes(copy: string): readonly string[] {
  const folder = join(copy, '.holdfast/sessions');
  const newest = readdirSync(folder).sort().at(-1) ?? '';
  const records: readonly unknown[] = readFileSync(join(folder, newest), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return records.flatMap((record) => (isCallEnd(record) ? [`${record.name} ${record.outcome.kind}`] : []));
}

function isCallEnd(record: unknown): record is { readonly name: string; readonly outcome: { readonly kind: string } } {
  return typeof record === 'object' && record !== null && 'type' in record && record.type === 'tool-call-end';
}
