import { manualClock } from '@holdfast/testing';
import { expect, test, vi } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { SessionTurns } from './turns.ts';

test('a log that cannot be closed is reported, and the next call opens it again', async () => {
  await using folder = await createFolder();
  const clock = manualClock();
  const { host, stderr } = createTestHost({
    directory: folder.path,
    environment: { HOME: folder.path, HOLDFAST_HOME: `${folder.path}/own` },
    clock,
  });
  const turns = new SessionTurns({ workspace: folder.path, id: 's-1' }, host);
  const session = await turns.open();
  vi.spyOn(session, 'close').mockImplementationOnce(() => Promise.reject(new Error('The disk is gone.')));
  await turns.release('client', false);
  clock.advance(1_000);
  await expect.poll(() => stderr()).toContain('The disk is gone.');
  await session.close();
  const next = await turns.open();
  expect(next).not.toBe(session);
  await turns.release('client', true);
});
