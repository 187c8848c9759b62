import { execFile } from 'node:child_process';
import { cp, glob, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { toSettings } from 'holdfast-packed-tests/stranger';
import { versions } from './versions.ts';

/** The project of a user: the packed packages, the programs, and everything that they have to work with. */
export const folder: string = join(import.meta.dirname, '../../.cache/works-with');

const others: Readonly<Record<string, string>> = {
  zod: versions.Zod[0],
  arktype: versions.ArkType[0],
  valibot: versions.valibot[0],
  ...Object.fromEntries(versions.TypeScript.map((version) => [toCompiler(version), `npm:typescript@${version}`])),
  // Next.js checks types with it.
  typescript: versions.TypeScript[1],
  '@types/node': '24.19.2',
  bun: versions.Bun[0],
  deno: versions.Deno[0],
  vite: versions.Vite[0],
  next: versions['Next.js'][0],
  react: '19.3.1',
  'react-dom': '19.3.1',
  '@types/react': '19.3.0',
  workerd: versions.workerd[0],
};

/** The name that a version of TypeScript is installed by. */
export function toCompiler(version: string): string {
  return `typescript-${version}`;
}

/** Makes the project anew, with `packages` from `registry`. Other packages, some 800 MB, stay. No install script runs. */
export async function installProject(registry: string, packages: readonly string[]): Promise<void> {
  await mkdir(join(folder, 'node_modules'), { recursive: true });
  const old = (await readdir(folder)).filter((name) => name !== 'node_modules');
  for (const path of [...old, 'node_modules/@holdfast', 'node_modules/.package-lock.json']) {
    await rm(join(folder, path), { recursive: true, force: true });
  }
  await cp(join(import.meta.dirname, 'programs'), join(folder, 'programs'), { recursive: true });
  const dependencies = { ...others, ...Object.fromEntries(packages.map((name) => [name, '*'])) };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }));
  await writeFile(join(folder, '.npmrc'), toSettings(registry));
  const words = ['install', '--ignore-scripts', '--no-package-lock', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', words, { cwd: folder, shell: process.platform === 'win32' });
}

/** The one file in the folder of packages that matches `pattern`. */
export async function findProgram(pattern: string): Promise<string> {
  for await (const path of glob(pattern, { cwd: join(folder, 'node_modules') }))
    return join(folder, 'node_modules', path);
  throw new Error(`nothing matches \`${pattern}\` in \`${folder}\``);
}
