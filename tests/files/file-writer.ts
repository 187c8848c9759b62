// A process that changes files, for tests that kill it: `node file-writer.ts ROOT FOLDER LOG`. After `go` on standard input it
// makes calls, each of which takes FOLDER from one state to the next, and records in LOG, as a session would,
// that a call is done before it is applied. It prints its progress, three lines per call.
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Filesystem } from '@holdfast/core';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { largeText } from './file-states.ts';

const [root = '', folder = '', log = ''] = process.argv.slice(2);

async function change(view: Filesystem, call: number): Promise<void> {
  await view.write(`${folder}/same.txt`, `${call}`);
  await view.write(`${folder}/large.txt`, largeText(call));
  await view.write(`${folder}/new/${call}/deep/a.txt`, `${call}`);
  if (call > 0) {
    for (const path of ['deep/a.txt', 'deep', '']) await view.remove(`${folder}/new/${call - 1}/${path}`);
  }
  const swapped = `${folder}/swapped`;
  if (call % 2 === 0) {
    if (call > 0) for (const path of [`${swapped}/inner.txt`, swapped]) await view.remove(path);
    await view.write(swapped, `${call}`);
  } else {
    await view.remove(swapped);
    await view.write(`${swapped}/inner.txt`, `${call}`);
  }
}

writeSync(1, 'ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== 'go') break;
  const files = hostFilesystem(root);
  const done = existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0;
  for (let call = done; ; call += 1) {
    const transaction = files.begin(`call-${call}`);
    await change(transaction.view, call);
    await transaction.prepare(`${folder}#${call}`);
    writeSync(1, 'prepared\n');
    appendFileSync(log, `${call}\n`);
    writeSync(1, 'logged\n');
    await transaction.commit();
    writeSync(1, 'applied\n');
  }
}
