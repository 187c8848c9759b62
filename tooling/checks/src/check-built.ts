// Imports every built package as users do: by name, in plain Node.js, without the condition that selects sources.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readRepository } from './repository.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const { members } = await readRepository(root);
const problems: string[] = [];

/** Runs Node.js in `folder` and returns its output, or records a problem and returns `undefined`. */
function run(folder: string, parameters: readonly string[]): string | undefined {
  const { status, stdout, stderr } = spawnSync(process.execPath, parameters, {
    cwd: join(root, folder),
    encoding: 'utf8',
  });
  if (status === 0) return stdout;
  problems.push(`${folder}: \`node ${parameters.join(' ')}\` ended with ${status}: ${stderr.trim()}`);
  return undefined;
}

function listNames(folder: string, specifier: string, flags: readonly string[]): string | undefined {
  const source = `console.log(Object.keys(await import('${specifier}')).sort().join())`;
  return run(folder, [...flags, '--input-type=module', '--eval', source])?.trim();
}

let checked = 0;
for (const { folder, manifest } of members.filter(({ manifest: { private: isPrivate } }) => isPrivate !== true)) {
  for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
    if (typeof target === 'string') continue;
    const specifier = `${manifest.name}${subpath.slice(1)}`;
    const built = listNames(folder, specifier, []);
    const fromSource = listNames(folder, specifier, ['--conditions=holdfast-source']);
    if (built !== fromSource) problems.push(`${specifier}: built are \`${built}\`, the source has \`${fromSource}\``);
    if (!existsSync(join(root, folder, target['types'] ?? ''))) problems.push(`${specifier}: \`types\` is not there`);
    checked += 1;
  }
  for (const program of Object.values(manifest.bin ?? {})) {
    const help = run(folder, [program, '--help']);
    if (help !== undefined && !help.includes('holdfast'))
      problems.push(`${folder}: \`--help\` does not mention holdfast`);
    checked += 1;
  }
}
for (const problem of problems) console.error(problem);
console.log(`${checked} built entries checked, ${problems.length} problems`);
process.exitCode = problems.length > 0 || checked === 0 ? 1 : 0;
