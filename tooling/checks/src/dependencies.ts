import { builtinModules } from 'node:module';
import { toPackageName } from './layers.ts';
import { isTest, type Member, type Repository } from './repository.ts';

// `npm run peers` and `npm run frameworks` install the dependencies of these.
const installed = ['tests/peers/programs/', 'tests/frameworks/installed/', 'examples/frameworks/'];

/** Dependencies that are used but not declared, or declared but not used. */
export function findDependencyProblems({ members, root }: Repository): string[] {
  return members.flatMap((member) => findInMember(member, Object.keys(root.devDependencies ?? {})));
}

function findInMember({ folder, manifest, sources }: Member, shared: readonly string[]): string[] {
  const declared = Object.keys({
    ...manifest.dependencies,
    ...manifest.peerDependencies,
    ...manifest.optionalDependencies,
  });
  const development = Object.keys(manifest.devDependencies ?? {});
  const used = new Set<string>();
  const usedByTests = new Set<string>();
  for (const { path, imports } of sources) {
    if (installed.some((folder) => path.startsWith(folder))) continue;
    for (const name of imports.map(toPackageName)) {
      if (name === undefined || name.startsWith('node:') || name === manifest.name) continue;
      (isTest(path) ? usedByTests : used).add(name);
    }
  }
  const problems: string[] = [];
  for (const name of new Set([...used, ...usedByTests])) {
    if (builtinModules.includes(name)) problems.push(`${folder}: write \`node:${name}\` for \`${name}\``);
    else if (!declared.includes(name) && used.has(name) && !isPrivateUse(manifest.private, shared, name)) {
      problems.push(`${folder}: \`${name}\` is used and not declared`);
    } else if (!declared.includes(name) && ![...development, ...shared].includes(name)) {
      problems.push(`${folder}: \`${name}\` is used by a test and not declared`);
    }
  }
  for (const name of declared) {
    if (!used.has(name) && !(manifest.private === true && usedByTests.has(name))) {
      problems.push(`${folder}: \`${name}\` is declared and not used`);
    }
  }
  for (const name of development) {
    const types = name.startsWith('@types/') && declared.includes(name.slice('@types/'.length));
    if (!types && !usedByTests.has(name)) problems.push(`${folder}: \`${name}\` is declared for tests and not used`);
  }
  return problems;
}

// Unpublished code may use the root's development tools.
function isPrivateUse(isPrivate: boolean | undefined, shared: readonly string[], name: string): boolean {
  return isPrivate === true && shared.includes(name);
}

/** Versions outside the catalog, and catalog entries that are inexact or unused. */
export function findCatalogProblems({ members, root, files }: Repository): string[] {
  const catalog = readCatalog(files.get('pnpm-workspace.yaml') ?? '');
  const taken = new Set<string>();
  const problems: string[] = [];
  for (const { folder, manifest } of [{ folder: '.', manifest: root }, ...members]) {
    const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
    for (const [name, version] of Object.entries(all)) {
      taken.add(name);
      if (version !== 'catalog:' && version !== 'workspace:*') {
        problems.push(`${folder}: \`${name}\` must be \`catalog:\` or \`workspace:*\`, not \`${version}\``);
      } else if (version === 'catalog:' && !catalog.has(name)) {
        problems.push(`${folder}: \`${name}\` is not in the catalog`);
      }
    }
  }
  for (const [name, version] of catalog) {
    if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
      problems.push(`catalog: \`${name}\` must be exact, not \`${version}\``);
    if (!taken.has(name)) problems.push(`catalog: nothing takes \`${name}\``);
  }
  return problems;
}

// Only the two-level form that this file uses: a YAML parser is not worth a dependency.
function readCatalog(yaml: string): ReadonlyMap<string, string> {
  const [, block = ''] = /^catalog:\n((?: {2}.*\n)+)/m.exec(yaml) ?? [];
  const lines = block.matchAll(/^ {2}"?([^":\n]+)"?: (.+)$/gm);
  return new Map([...lines].map(([, name = '', version = '']) => [name, version]));
}
