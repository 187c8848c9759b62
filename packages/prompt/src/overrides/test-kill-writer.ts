import { createFileOverrides } from './files.ts';

// Run by override-files.test.ts: ends as a crash would, when the new document is written and has no name yet.
const [, , folder = '', tag = ''] = process.argv;
const die = (): Promise<void> => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
};
await createFileOverrides(folder, { rename: die, link: die }).write({ ns: 'tests', key: 'prompt', tag }, 'new', {
  ifAbsent: tag === 'absent',
});
