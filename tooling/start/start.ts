// `npm start`: sends a request to the offline stand-in, or with `--model` to another model, in a copy of the sample project or
// in your folder. It needs no key unless `--model` names a model that does.
// Without a request it is a short demo; `--demo` shows a guarded coding agent. Every step is a real run of the command-line program.
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { runDemo } from './demo.ts';
import { holdfast, pluginsFolder, root } from './holdfast.ts';
import { copySample } from './sample.ts';

const standInNote =
  '\nThe rule-based offline stand-in answered. Use a language model with `--model`, such as `--model openai:gpt-5`.';

// A terminal also sends Ctrl-C to the run, which then ends cleanly.
process.on('SIGINT', () => undefined);
process.exitCode = await start(process.argv.slice(2));

function start([first, ...rest]: readonly string[]): Promise<number> {
  if (first === undefined) return runDemo();
  return first === '--demo' ? holdfast(['demo', ...rest]) : runOnce([first, ...rest]);
}

async function runOnce(given: readonly string[]): Promise<number> {
  const isGiven = (option: string): boolean => given.some((word) => word === option || word.startsWith(`${option}=`));
  const copy = isGiven('--workspace') || isGiven('--help') ? undefined : copySample();
  const exitCode = await holdfast([
    'run',
    ...given,
    ...(isGiven('--model') ? [] : ['--model', 'offline']),
    ...(isGiven('--tools') ? [] : ['--tools', pluginsFolder]),
    ...(copy === undefined ? [] : ['--workspace', copy]),
  ]);
  if (!isGiven('--json') && !isGiven('--help') && exitCode === 0) {
    if (!isGiven('--model')) console.log(standInNote);
    if (copy !== undefined) showResult(copy);
  }
  return exitCode;
}

function showResult(copy: string): void {
  console.log(`\nThis ran in a copy of the sample project: ${relative(process.cwd(), copy)}`);
  const report = join(copy, 'report.md');
  if (existsSync(report) && !existsSync(join(root, 'examples/sample-project/report.md'))) {
    console.log(`\nreport.md\n${'-'.repeat(9)}\n${readFileSync(report, 'utf8').trimEnd()}`);
  }
}
