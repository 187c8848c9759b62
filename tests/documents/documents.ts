import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const runner = fileURLToPath(new URL('./run-programs.ts', import.meta.url));

/**
 * The programs and files in a document, by path: the first line of a fence may name it. A fence
 * marked `continued` extends the previous program.
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

/** Writes them into `folder` and returns the programs to run. */
export async function writeFences(fences: ReadonlyMap<string, string>, folder: string): Promise<readonly string[]> {
  for (const [path, fence] of fences) await writeShown({ path, text: fence }, folder);
  return [...fences]
    .filter(([path, fence]) => path.startsWith('program-') && fence.includes('import '))
    .map(([path]) => path);
}

/** Saves a file of a page. */
export async function writeShown(
  { path, text }: { readonly path: string; readonly text: string },
  folder: string,
): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

/** The steps of a reader who follows a page: saving its files and running its commands in order. */
export type PageStep =
  | { readonly type: 'file'; readonly path: string; readonly text: string }
  | {
      readonly type: 'command';
      readonly command: string;
      /** The exit code: 0, unless followed by `# exits with 1`. */
      readonly status: number;
      /** Lines of its output, from a `text` fence right after the command. */
      readonly shown: readonly string[];
    };

/**
 * Reads the steps of a page. A file is a fence whose first line names its path in a comment, or follows its language if it
 * has no comments (`json plugins/a.tool.json`); the commands are the lines of `sh` fences that begin with `npm`.
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

/** The expected output of a program: the comment lines after each `console.log(...);` or after the loop around it. */
export function readPromises(program: string): readonly string[] {
  const comments = program.matchAll(/^ *(?:if \(.*\) )?console\.log\(.*\);(?: \/\/ .+|(?:\n\})?(?:\n *\/\/ .+)+)$/gm);
  return [...comments].flatMap(([text]) =>
    [...text.matchAll(/(?<=^ *|; )\/\/ (.+)$/gm)].map(([, promise = '']) => promise),
  );
}

/** The `promises` that `output` does not contain in order. Objects are printed with more space than in comments. */
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

/** Runs the npm script of `command` in `folder`: `npm run holdfast -- check my-tools`. */
export async function runCommand(command: string, folder: string, more: readonly string[] = []): Promise<Ended> {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const [, name = '', rest = ''] = /^npm (?:run )?(?:--silent )?(\w+) -- (.+)$/.exec(command) ?? [];
  // The setup is done already: run its program directly.
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

/** Runs programs in one process and checks their promised output; `undefined` for a program that did not end. */
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

/** Runs Node.js to completion; the output combines both streams. */
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
