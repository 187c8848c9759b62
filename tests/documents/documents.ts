import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const runner = fileURLToPath(new URL('./run-programs.ts', import.meta.url));

/**
 * The programs and files that a document shows, by the path they are written to: the first line of a fence may name one. A fence
 * that is marked `continued` goes on with the program before it.
 */
export function readFences(text: string): ReadonlyMap<string, string> {
  const fences = new Map<string, string>();
  let last = '';
  for (const [, mark, fence = ''] of text.matchAll(/^```(?:ts|js)( continued)?\n([\s\S]*?)^```/gm)) {
    if (mark === undefined) last = /^\/\/ (\S+\.m?[jt]s)\n/.exec(fence)?.[1] ?? `program-${fences.size}.ts`;
    fences.set(last, `${mark === undefined ? '' : fences.get(last)}${fence}`);
  }
  return fences;
}

/** Writes them into `folder` and says which of them are programs to run. */
export async function writeFences(fences: ReadonlyMap<string, string>, folder: string): Promise<readonly string[]> {
  for (const [path, fence] of fences) await writeShown({ path, text: fence }, folder);
  return [...fences]
    .filter(([path, fence]) => path.startsWith('program-') && fence.includes('import '))
    .map(([path]) => path);
}

/** Saves a file that a page shows. */
export async function writeShown(
  { path, text }: { readonly path: string; readonly text: string },
  folder: string,
): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

/** What a reader does who follows a page: saves the files that it shows and types its commands, in its order. */
export type PageStep =
  | { readonly type: 'file'; readonly path: string; readonly text: string }
  | {
      readonly type: 'command';
      readonly command: string;
      /** What it exits with: 0, unless `# exits with 1` stands behind it. */
      readonly status: number;
      /** Lines of its output, from a `text` fence right behind the command. */
      readonly shown: readonly string[];
    };

/**
 * The steps of a page. A file is a fence whose first line names its path in a comment, or whose language is followed by it where there
 * are no comments (`json plugins/a.tool.json`); the commands are the lines of `sh` fences that begin with `npm`.
 */
export function readSteps(text: string): readonly PageStep[] {
  const fences = text.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```)?/gm);
  return [...fences].flatMap(([, language = '', place, fence = '', shown = '']): readonly PageStep[] => {
    if (language === 'sh') {
      const commands = fence
        .trim()
        .split('\n')
        .filter((line) => line.startsWith('npm '));
      return commands.map((line, index): PageStep => {
        const [command = '', status = '0'] = line.split(/\s+# exits with (?=\d)/);
        return {
          type: 'command',
          command,
          status: Number(status),
          shown: index === commands.length - 1 ? shown.split('\n') : [],
        };
      });
    }
    const named = /^(?:\/\/|#) (\S+\.(?:m?[jt]s|py))\n/.exec(fence)?.[1];
    const path = ['ts', 'js', 'py'].includes(language) ? named : language === 'json' ? place : undefined;
    return path === undefined ? [] : [{ type: 'file', path, text: fence }];
  });
}

/** What a program says of its own output: the comment lines after each `console.log(...);` or after the loop around it. */
export function readPromises(program: string): readonly string[] {
  const comments = program.matchAll(/^ *(?:if \(.*\) )?console\.log\(.*\);(?: \/\/ .+|(?:\n\})?(?:\n *\/\/ .+)+)$/gm);
  return [...comments].flatMap(([text]) =>
    [...text.matchAll(/(?<=^ *|; )\/\/ (.+)$/gm)].map(([, promise = '']) => promise),
  );
}

/** Those of `promises` that `output` does not hold in their order. Objects are printed with more space than a comment has. */
export function findUnkept(promises: readonly string[], output: string): readonly string[] {
  const printed = output.replaceAll(/\s/g, '');
  let from = 0;
  return promises.filter((promise) => {
    const wanted = promise.replaceAll(/\s/g, '');
    const at = printed.indexOf(wanted, from);
    if (at >= 0) from = at + wanted.length;
    return at < 0;
  });
}

export interface Ended {
  readonly status: number | null;
  readonly output: string;
}

/** Runs what the npm script of `command` runs, as a person in `folder` would: `npm run holdfast -- check my-tools`. */
export async function runCommand(command: string, folder: string, more: readonly string[] = []): Promise<Ended> {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const [, name = '', rest = ''] = /^npm (?:run )?(?:--silent )?(\w+) -- (.+)$/.exec(command) ?? [];
  // What sets up first has nothing to do any more: what it runs is run at once.
  const [program = '', ...fixed] = (scripts[name] ?? '').split(' ').slice(2);
  const words = [...rest.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain = '']) => double ?? single ?? plain,
  );
  return runNode(['--conditions=holdfast-source', join(root, program), ...fixed, ...words, ...more], { cwd: folder });
}

/** A program of a document, which runs in `folder`. */
export interface Program {
  readonly folder: string;
  readonly path: string;
  readonly promises: readonly string[];
}

/** Runs programs in one process, and says of each what it printed of what it promised: `undefined` of one that did not end. */
export async function runPrograms(programs: readonly Program[]): Promise<readonly string[]> {
  const limit = '~~~ the program ended ~~~';
  const places = programs.flatMap(({ folder, path }) => [folder, path]);
  const { status, output } = await runNode(['--conditions=holdfast-source', runner, limit, ...places], { cwd: root });
  const parts = output.split(`\n${limit}\n`);
  const wrong = programs.flatMap(({ folder, path, promises }, index) => {
    if (index >= parts.length - 1) return [`${folder}/${path} did not end: ${parts.at(-1)}`];
    return findUnkept(promises, parts[index] ?? '').map((promise) => `${folder}/${path} did not print: ${promise}`);
  });
  return status === 0 || wrong.length > 0 ? wrong : [`The programs ended with ${status}: ${output}`];
}

/** Runs Node.js to its end; the output is both streams together. */
export function runNode(
  parameters: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, parameters, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}
