// npm run registry: serves the packages of this checkout to npm, on this machine only, until Ctrl-C. What is published there is gone then.
import { spawnSync } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packAll } from './pack.ts';
import { readPackages } from './packed-package.ts';
import { startRegistry } from './registry.ts';
import { toSettings } from './stranger.ts';

const wanted = process.env['PORT'] ?? '4873';
const port = Number(wanted);
if (!/^\d{1,5}$/.test(wanted) || port > 65_535) {
  console.error(`PORT is \`${wanted}\`, and must be a number up to 65535. Without it, 4873 is taken.`);
  process.exit(2);
}
const root = fileURLToPath(new URL('../../', import.meta.url));
console.log('Building the packages ...');
const { status, error, stdout, stderr } = spawnSync('npm', ['run', 'build'], {
  cwd: root,
  encoding: 'utf8',
  shell: process.platform === 'win32',
});
if (status !== 0) {
  console.error(`${stdout}${stderr}The build failed${error === undefined ? '' : `: ${error.message}`}.`);
  process.exit(1);
}
const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-registry-')));
try {
  console.log('Packing the packages ...');
  await packAll(folder);
  const packages = await readPackages(folder);
  const registry = await startRegistry(packages, { port });
  console.log(`${packages.length} packages of this checkout are at ${registry.url}, until Ctrl-C.`);
  console.log(`A project takes them, and may publish beside them, with this .npmrc:\n\n${toSettings(registry.url)}`);
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  await registry.stop();
} catch (thrown) {
  if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EADDRINUSE')) throw thrown;
  console.error(
    `Something listens on port ${port} already: end it, or choose another one with PORT=${port === 65_535 ? 4873 : port + 1}.`,
  );
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
