import { posix } from 'node:path';
import type { Repository } from './repository.ts';

const builtInCommands = new Set(['install', 'exec', 'dlx', 'add', 'run', 'version']);

// Tests run the programs in these; the reports of tooling/api are generated.
const testedDocuments = /^(?:README\.md|packages\/[\w-]+\/README\.md|apps\/docs\/.+|tooling\/api\/.+)$/;

/** Missing commands, links and programs in the documents. */
export function findDocumentProblems(repository: Repository): string[] {
  return [...repository.files]
    .filter(([path]) => path.endsWith('.md') && !path.startsWith('.changeset/'))
    .flatMap(([path, text]) => [
      ...findUnknownCommands(text, repository).map((problem) => `${path}: ${problem}`),
      ...findUnknownScripts(text, repository).map((problem) => `${path}: ${problem}`),
      ...findDeadLinks(path, text, repository).map((problem) => `${path}: ${problem}`),
      ...(path.startsWith('apps/docs/guide/') ? [] : findLostPaths(text, repository)).map(
        (problem) => `${path}: ${problem}`,
      ),
      ...findChangedExamples(text, repository).map((problem) => `${path}: ${problem}`),
      ...(testedDocuments.test(path) ? [] : findUntestedPrograms(text).map((problem) => `${path}: ${problem}`)),
    ]);
}

function findUnknownScripts(text: string, { root }: Repository): string[] {
  const named = [
    ...text.matchAll(/\bnpm (?:run )?(?:--silent )?(start|test|(?<=run )[\w:-]+|(?<=--silent )[\w:-]+)/g),
    ...text.matchAll(/\bpnpm (?:run )?([a-z][\w:-]*)/g),
  ].map(([, name = '']) => name);
  return [...new Set(named)]
    .filter((name) => !builtInCommands.has(name) && !Object.hasOwn(root.scripts ?? {}, name))
    .map((name) => `the script \`${name}\` does not exist`);
}

// The commands that the program registers, found in its sources.
function findUnknownCommands(text: string, { sources }: Repository): string[] {
  const program = sources.filter(({ path }) => path.startsWith('apps/cli/src/')).map((source) => source.text);
  const known = new Set([...program.join('\n').matchAll(/\bcommand\(\s*'([\w-]+)/g)].map(([, name]) => name));
  return [...text.matchAll(/\bnpm run (?:--silent )?holdfast -- ([a-z][\w-]*)/g)]
    .filter(([, name]) => !known.has(name))
    .map(([, name]) => `the command \`holdfast ${name}\` does not exist`);
}

function findDeadLinks(path: string, text: string, { files }: Repository): string[] {
  const targets = [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)].map(([, target = '']) => target);
  return targets
    .map((target) => posix.join(posix.dirname(path), target).replace(/\/$/, ''))
    .filter((target) => !files.has(target) && ![...files.keys()].some((file) => file.startsWith(`${target}/`)))
    .map((target) => `the link to \`${target}\` leads nowhere`);
}

// A path from the root, up to a placeholder: `packages/policy/src/NAME.ts`.
function findLostPaths(text: string, { files }: Repository): string[] {
  const named = [...text.matchAll(/`((?:packages|apps|tests|tooling|examples|bench)\/[\w./-]+)`/g)];
  const folders = [...files.keys()];
  return named
    .map(([, path = '']) => path.replace(/\/[^/]*(?:[A-Z]{2,}|NN).*$/, '').replace(/\/$/, ''))
    .filter((path) => !files.has(path) && !folders.some((file) => file.startsWith(`${path}/`)))
    .map((path) => `\`${path}\` does not exist`);
}

// A fence whose first line is `// examples/NAME.ts` shows that program verbatim.
function findChangedExamples(text: string, { files }: Repository): string[] {
  return [...text.matchAll(/```ts\n\/\/ (examples\/\S+\.ts)\n([\s\S]*?)```/g)]
    .filter(([, path = '', shown]) => files.get(path)?.trim() !== shown?.trim())
    .map(([, path]) => `the fence of \`${path}\` differs from the file`);
}

function findUntestedPrograms(text: string): string[] {
  return [...text.matchAll(/^ *```(?:[jt]sx?|m[jt]s|javascript|typescript)\b.*\n(.*)/gm)]
    .filter(([, first = '']) => !/^\/\/ examples\/\S+\.ts$/.test(first))
    .map(([, first]) => `no test runs the program that starts with \`${first}\`; show an example verbatim`);
}

/** Changesets without a valid head of packages and release types. */
export function findChangesetProblems({ files, members }: Repository): string[] {
  const names = members.filter(({ manifest }) => manifest.private !== true).map(({ manifest }) => manifest.name);
  return [...files]
    .filter(([path]) => path.startsWith('.changeset/') && path.endsWith('.md'))
    .flatMap(([path, text]) => {
      const head = /^---\n((?:"[^"\n]+": (?:patch|minor|major)\n)+)---\n\n\S/.exec(text);
      if (head === null)
        return [`${path}: needs a head of lines like \`"holdfast": minor\` between two \`---\`, followed by text`];
      const named = [...(head[1] ?? '').matchAll(/"([^"\n]+)"/g)].map(([, name = '']) => name);
      return named.filter((name) => !names.includes(name)).map((name) => `${path}: unknown package \`${name}\``);
    });
}

/** Numbered examples: consecutive numbers, each short enough to read as documentation. */
export function findExampleProblems({ files }: Repository): string[] {
  const numbered = [...files]
    .filter(([path]) => /^examples\/\d\d-[\w-]+\.ts$/.test(path))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return numbered.flatMap(([path, text], index) => {
    const number = String(index + 1).padStart(2, '0');
    const lines = text.split('\n').length - 1;
    return [
      ...(path.startsWith(`examples/${number}-`) ? [] : [`${path}: expected the number ${number}`]),
      ...(lines > 80 ? [`${path}: has ${lines} lines, over 80`] : []),
      ...(text.includes('node:assert') ? [] : [`${path}: does not check itself`]),
    ];
  });
}
