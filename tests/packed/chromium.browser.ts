import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { bundleForBrowsers } from './bundle.ts';
import { neutralPackages, neutralResult } from './neutral-packages.ts';
import { createProject, type Project } from './stranger.ts';

const chromium = process.env['CHROMIUM'] ?? 'chromium';

let project: Project;

beforeAll(async () => {
  project = await createProject(inject('registry'), neutralPackages);
});

afterAll(() => project.remove());

test('the bundle runs in a page', async () => {
  // In a file of its own: what the page says of itself below stays small.
  await project.write('program.js', await bundleForBrowsers(project));
  await project.write(
    'page.html',
    `<!doctype html><meta charset="utf-8"><pre></pre>
<script>
const say = (value) => { document.querySelector('pre').textContent = JSON.stringify(value); };
window.onerror = (message) => say(message);
</script>
<script src="program.js"></script>
<script>program.runEverything().then(say, (error) => say(String(error)));</script>`,
  );
  const parameters = ['--headless', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=20000', '--dump-dom'];
  const { stdout } = await promisify(execFile)(chromium, [...parameters, join(project.folder, 'page.html')]);
  const [, text = ''] = /<pre>(.*)<\/pre>/.exec(stdout) ?? [];
  expect(JSON.parse(text)).toEqual(neutralResult);
});
