import type { Member, Repository } from './repository.ts';

// A package may import only from lower layers, never from its own.
const layers = [
  ['core'],
  ['schema', 'model-*'],
  ['session', 'policy', 'prompt', 'facts', 'adapter-*'],
  ['executor', 'filesystem', 'planning', 'loader', 'registry', 'pack-*'],
  ['kit', 'driver-*', 'loader-python', 'orchestrator', 'modules', 'guard', 'mcp', 'otel', 'testing'],
  ['dspy'],
];

// The executor takes these as values and must not import their packages.
const forbidden: ReadonlyMap<string, readonly string[]> = new Map([['executor', ['policy', 'prompt', 'adapter-*']]]);

function toPattern(name: string): string {
  return /^(?:adapter|driver|model|pack)-/.exec(name)?.[0].concat('*') ?? name;
}

function layerOf(name: string): number {
  return layers.findIndex((layer) => layer.includes(toPattern(name)));
}

/** Imports from the same or a higher layer. Apps, examples, bench, tests and tooling may import anything. */
export function findLayerProblems({ members }: Repository): string[] {
  const packages = members.filter(({ folder }) => folder.startsWith('packages/'));
  return packages.flatMap((member) => {
    const name = member.folder.slice('packages/'.length);
    if (layerOf(name) < 0) return [`${member.folder}: give \`${name}\` a layer in tooling/checks/src/layers.ts`];
    return member.sources.flatMap(({ path, imports }) =>
      imports
        .filter((imported) => imported.startsWith('@holdfast/') && imported.split('/')[1] !== name)
        .filter((imported) => !mayImport(name, imported.split('/')[1] ?? ''))
        .map((imported) => `${path}: \`${name}\` must not import \`${imported}\``),
    );
  });
}

function mayImport(from: string, to: string): boolean {
  const target = layerOf(to);
  return target >= 0 && target < layerOf(from) && !forbidden.get(from)?.includes(toPattern(to));
}

/** The package a specifier names: `@holdfast/core`, `valibot`, `node:fs`. `undefined` for a relative one. */
export function toPackageName(specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('/')) return undefined;
  if (specifier.startsWith('node:')) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Imports that reach into another package past its `exports`, or out of the package's own folder. */
export function findDeepImports({ members }: Repository): string[] {
  const byName = new Map(members.map((member) => [member.manifest.name, member]));
  return members.flatMap((member) =>
    member.sources.flatMap(({ path, imports }) =>
      imports.flatMap((imported) => {
        const problem = findDeepImport(member, path, imported, byName);
        return problem === undefined ? [] : [`${path}: ${problem}`];
      }),
    ),
  );
}

function findDeepImport(member: Member, path: string, imported: string, byName: ReadonlyMap<string, Member>) {
  const name = toPackageName(imported);
  if (name === undefined) {
    const target = new URL(imported, `file:///${path}`).pathname.slice(1);
    return target.startsWith(`${member.folder}/`) ? undefined : `\`${imported}\` leaves the package`;
  }
  const target = byName.get(name);
  if (target === undefined || target === member) return undefined;
  const subpath = `.${imported.slice(name.length)}`;
  return Object.hasOwn(target.manifest.exports ?? {}, subpath) ? undefined : `\`${imported}\` is not exported`;
}
