import type { ParsedFile } from './parsed-file.ts';
import type { Member, Repository } from './repository.ts';

// Subpaths that may need Node.js. All other exports must run in any JavaScript runtime.
const nodeSubpaths: ReadonlyMap<string, readonly string[]> = new Map([
  ['@holdfast/session', ['./jsonl', './lock', './postgres', './redact', './sqlite', './watch']],
  ['@holdfast/facts', ['./node']],
  ['@holdfast/filesystem', ['./node']],
  ['@holdfast/modules', ['./node']],
  ['@holdfast/prompt', ['./node']],
  ['@holdfast/registry', ['./node', './rules']],
  ['@holdfast/pack-network', ['./node']],
  ['@holdfast/loader', ['.', './internal', './language', './lock', './plugins']],
  ['@holdfast/loader-python', ['.']],
  ['@holdfast/mcp', ['.']],
  ['@holdfast/adapter-llama-cpp', ['.']],
]);

// Not `module`: it does not exist in ES modules, and here it is a term of the domain.
const nodeGlobals = ['process', 'Buffer', 'require', '__dirname', '__filename', 'global', 'setImmediate', 'NodeJS'];

/** Node.js imports and globals that a runtime-neutral export reaches through the package's own files. */
export function findNeutralProblems({ members }: Repository): string[] {
  return members
    .filter(({ folder }) => folder.startsWith('packages/'))
    .flatMap((member) => [...neutralFiles(member)].flatMap(findInFile));
}

function findInFile({ path, imports, references }: ParsedFile): string[] {
  return [
    ...imports.filter((name) => name.startsWith('node:')).map((name) => `${path}: imports \`${name}\``),
    ...nodeGlobals.filter((name) => references.has(name)).map((name) => `${path}: uses the global \`${name}\``),
  ];
}

function neutralFiles({ folder, manifest, sources }: Member): ReadonlySet<ParsedFile> {
  const excluded = nodeSubpaths.get(manifest.name) ?? [];
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const reached = new Set<ParsedFile>();
  const reach = (path: string): void => {
    const source = byPath.get(path);
    if (source === undefined || reached.has(source)) return;
    reached.add(source);
    for (const imported of source.imports.filter((name) => name.startsWith('.'))) {
      reach(new URL(imported, `file:///${path}`).pathname.slice(1));
    }
  };
  for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
    if (excluded.includes(subpath) || typeof target === 'string') continue;
    const entry = target['holdfast-source'];
    if (entry !== undefined) reach(`${folder}/${entry.replace('./', '')}`);
  }
  return reached;
}
