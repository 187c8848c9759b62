import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const bin = fileURLToPath(new URL('bin.ts', import.meta.url));

/** Runs `holdfast --version` on a Node.js that says it is `version`. */
function runOn(version: string): { status: number | null; stdout: string; stderr: string } {
  const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
  const preload = `data:text/javascript,${encodeURIComponent(pretend)}`;
  return spawnSync(process.execPath, ['--conditions=holdfast-source', '--import', preload, bin, '--version'], {
    encoding: 'utf8',
  });
}

test.each([
  ['18.20.0', false],
  ['20.20.2', false],
  ['22.17.9', false],
  ['22.18.0', true],
  ['24.21.0', true],
  ['25.0.0', true],
])('on Node.js %s: runs %s', (version, runs) => {
  const { status, stdout, stderr } = runOn(version);
  if (runs) expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  else
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `holdfast needs Node.js 22.18 or later, and this is ${version}.\n`,
    });
});

test('a command loads only its own code', () => {
  const listing = `import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => (process.stderr.write(url + '\\n'), next(url, context)) });`;
  const preload = `data:text/javascript,${encodeURIComponent(listing)}`;
  const list = (...argv: readonly string[]): readonly string[] => {
    const words = ['--conditions=holdfast-source', '--import', preload, bin, ...argv];
    const { stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect(stderr).toContain('/apps/cli/src/program.ts');
    return [...new Set([...stderr.matchAll(/\/packages\/([\w-]+)\/src\//g)].map(([, name = '']) => name))];
  };
  expect(list('--help')).toEqual(['core']);
  expect(list('verify', 'nothing-like-it')).not.toContain('executor');
});
