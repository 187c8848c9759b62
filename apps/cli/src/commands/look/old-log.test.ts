import { expect, test } from 'vitest';
import { runProgram } from '../../program.ts';
import { callEnd } from '../../testing/test-events.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { writeLog } from '../../testing/test-log.ts';

const seen = { id: 'policy:files/seen', kind: 'keyed', retention: 'state', events: [] };
/** Outcomes had only a code then, and finer ones: `file.is_directory` is `file.invalid: is_directory` now. */
const entries = [
  callEnd('failed', { code: 'file.is_directory', message: 'It is a folder.' }),
  callEnd('timed-out', { callId: 'c2', code: 'call.budget', message: 'No time was left.' }),
  callEnd('ok', {
    callId: 'c3',
    value: 7,
    changes: [{ slice: seen.id, op: 'upsert', key: 'a.txt', item: { version: 'v1' } }],
  }),
];

test.each([
  { argv: ['why', 'c1'], says: ['outcome    failed (file.is_directory) after 3 ms: It is a folder.'] },
  { argv: ['why', 'c2'], says: ['timed-out (call.budget)'] },
  { argv: ['replay'], says: ['policy:files/seen', 'v1'] },
  { argv: ['verify'], says: ['4 records, hash chain intact'] },
])('`$argv` reads a log that was written before outcomes had a reason', async ({ argv, says }) => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'old', entries, [seen]);
  const { host, stdout, stderr } = createTestHost({ directory: folder.path, environment: { NO_COLOR: '1' } });
  expect({ exitCode: await runProgram(argv, host, '0'), stderr: stderr() }).toEqual({ exitCode: 0, stderr: '' });
  for (const part of says) expect(stdout()).toContain(part);
  expect(stdout()).not.toContain('undefined');
});
