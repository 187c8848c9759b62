import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { readPageFiles } from '../../studio/page-files.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { runHere } from '../../testing/test-program.ts';

test.each([['studio'], ['guard', 'serve']])('%s %s needs a person at a terminal', async (...argv) => {
  await using folder = await createFolder();
  const { exitCode, stdout, stderr } = await runHere(argv, { directory: folder.path });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain('Only a person at a terminal can open the page that answers');
});

test('a checkout whose page is not built says so; a built page has its three files and the style of traces', async () => {
  await using folder = await createFolder();
  const url = pathToFileURL(`${folder.path}/`);
  await expect(readPageFiles(url)).rejects.toMatchObject({ code: 'command.failed', reason: 'studio.page_missing' });
  for (const name of ['index.html', 'page.js', 'page.css']) await folder.write(name, `of ${name}`);
  const files = await readPageFiles(url);
  expect([...files.keys()]).toEqual(['/', '/page.js', '/page.css', '/trace.css']);
  expect(files.get('/page.js')).toEqual({ type: 'text/javascript', body: 'of page.js' });
});
