import type { Member, Repository } from './repository.ts';

/** Problems of published packages. */
export function findPackageProblems({ members, files }: Repository): string[] {
  return members
    .filter(({ manifest }) => manifest.private !== true)
    .flatMap((member) => findInPackage(member, files).map((problem) => `${member.folder}: ${problem}`));
}

function findInPackage({ folder, manifest, sources }: Member, files: ReadonlyMap<string, string>): string[] {
  const isLibrary = folder.startsWith('packages/');
  const expectedName = isLibrary ? `@holdfast/${folder.slice('packages/'.length)}` : 'holdfast';
  // JSON Schemas of program output serve readers in any language: they are published unchanged.
  const hasSchemas = [...files.keys()].some((path) => path.startsWith(`${folder}/schemas/`));
  // Model weights are binary: the checks do not read them.
  const weights = /^packages\/model-/.test(folder) ? ['model.gguf'] : [];
  const published = ['dist', ...(hasSchemas ? ['schemas'] : []), ...weights];
  const facts: [boolean, string][] = [
    [manifest.name === expectedName, `\`name\` must be \`${expectedName}\``],
    [(manifest.description ?? '') !== '', '`description` is missing'],
    [manifest.license === 'MIT', '`license` must be `MIT`'],
    [manifest.type === 'module', '`type` must be `module`'],
    [manifest.engines?.['node'] === '>=22.18', '`engines.node` must be `>=22.18`'],
    [manifest.files?.join() === published.join(), `\`files\` must be \`${JSON.stringify(published)}\``],
    [manifest.scripts?.['build'] !== undefined, 'the script `build` is missing'],
    [files.has(`${folder}/README.md`), 'README.md is missing'],
    [!isLibrary || manifest.sideEffects === false, '`sideEffects` must be false'],
    [!isLibrary || manifest.exports?.['.'] !== undefined, '`exports` needs `.`'],
  ];
  const problems = facts.filter(([holds]) => !holds).map(([, problem]) => problem);
  for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
    if (subpath === './package.json') continue;
    problems.push(...findExportProblems(subpath, target, folder, files));
  }
  for (const { path, hasExportAll, hasDefaultExport } of sources) {
    if (hasExportAll) problems.push(`${path} has \`export *\`; list the names`);
    if (hasDefaultExport && path.startsWith(`${folder}/src/`)) problems.push(`${path} has a default export`);
  }
  return problems;
}

function findExportProblems(
  subpath: string,
  target: string | Readonly<Record<string, string>>,
  folder: string,
  files: ReadonlyMap<string, string>,
): string[] {
  const source = typeof target === 'string' ? undefined : target['holdfast-source'];
  const name = /^\.\/src\/(.+)\.ts$/.exec(source ?? '')?.[1];
  if (name === undefined) return [`\`exports["${subpath}"]\` needs \`holdfast-source\`, a ./src/NAME.ts`];
  // Order matters: a runtime uses the first condition that it knows.
  const expected = { 'holdfast-source': source, types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` };
  const problems = files.has(`${folder}/src/${name}.ts`) ? [] : [`\`${source}\` of \`exports\` does not exist`];
  if (JSON.stringify(target) !== JSON.stringify(expected)) {
    problems.push(`\`exports["${subpath}"]\` must be ${JSON.stringify(expected)}`);
  }
  return problems;
}
