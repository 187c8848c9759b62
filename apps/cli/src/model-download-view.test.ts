import { stripVTControlCharacters } from 'node:util';
import { manualClock } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { createDownloadView } from './model-download-view.ts';
import { createTestHost, type TestHostOptions } from './test-host.ts';

function setUp(options: TestHostOptions = {}) {
  const clock = manualClock();
  const { host, stdout, stderr } = createTestHost({ environment: { NO_COLOR: '1' }, clock, ...options });
  const view = createDownloadView('tiny', host);
  return {
    clock,
    view,
    stdout,
    stderr,
    /** `count` steps of `bytes` and `ms` each, from `fromBytes` on. */
    bring(
      count: number,
      { bytes, ms, fromBytes = 0, totalBytes }: Record<'bytes' | 'ms' | 'totalBytes', number> & { fromBytes?: number },
    ) {
      for (let index = 1; index <= count; index += 1) {
        clock.advance(ms);
        view.show({ type: 'bytes', bytes: Math.min(totalBytes, fromBytes + index * bytes), totalBytes });
      }
    },
  };
}

test('without a terminal: a line for each tenth, with the rate and the time that is left', () => {
  const { bring, view, stdout, stderr } = setUp();
  bring(1000, { bytes: 1e6, ms: 100, totalBytes: 1e9 });
  view.close();
  const lines = stderr().split('\n');
  expect(lines.slice(0, 4)).toEqual([
    'tiny:   0 %  1.0 MB of 1.0 GB',
    'tiny:  10 %  100.0 MB of 1.0 GB  10.0 MB/s  1 m 30 s left',
    'tiny:  20 %  200.0 MB of 1.0 GB  10.0 MB/s  1 m 20 s left',
    'tiny:  30 %  300.0 MB of 1.0 GB  10.0 MB/s  1 m 10 s left',
  ]);
  expect(lines.slice(-3)).toEqual([
    'tiny:  90 %  900.0 MB of 1.0 GB  10.0 MB/s  10.0 s left',
    'tiny: 100 %  1.0 GB of 1.0 GB  10.0 MB/s',
    '',
  ]);
  expect(lines).toHaveLength(12);
  expect(stdout()).toBe('');
});

test('the rate is that of the last seconds', () => {
  const { bring, stderr } = setUp();
  bring(100, { bytes: 1e6, ms: 100, totalBytes: 1e9 });
  bring(400, { bytes: 1e6, ms: 1000, fromBytes: 1e8, totalBytes: 1e9 });
  expect(stderr().trimEnd().split('\n').at(-1)).toBe('tiny:  50 %  500.0 MB of 1.0 GB  1.0 MB/s  8 m 20 s left');
});

test('what happens on the way', () => {
  const { view, bring, stderr } = setUp();
  view.show({ type: 'taken-up', bytes: 3e8, totalBytes: 1e9 });
  bring(1, { bytes: 1, ms: 1, fromBytes: 3e8, totalBytes: 1e9 });
  view.show({ type: 'retry', reason: 'the connection broke: ECON\u001b[31mRESET', delayMs: 2000 });
  view.show({ type: 'anew' });
  bring(1, { bytes: 1, ms: 1, totalBytes: 1e9 });
  expect(stderr().split('\n')).toEqual([
    'tiny: going on from 300.0 MB of 1.0 GB',
    'tiny: the connection broke: ECON\\x1b[31mRESET; trying again in 2.0 s',
    'tiny: what was there cannot be gone on with; beginning anew',
    'tiny:   0 %  0.0 MB of 1.0 GB',
    '',
  ]);
});

test('on a terminal: one line that is rewritten at most ten times a second, and gone at the end', () => {
  const { bring, view, stdout, stderr } = setUp({ terminals: ['stderr'] });
  bring(1000, { bytes: 1e6, ms: 10, totalBytes: 1e9 });
  const drawn = stripVTControlCharacters(stderr())
    .split('\n')
    .filter((line) => line !== '');
  expect(drawn.length).toBeLessThanOrEqual(102);
  expect(drawn.length).toBeGreaterThan(50);
  expect(drawn.at(-1)).toBe(`${'█'.repeat(40)}  100 %  1.0 GB of 1.0 GB  100.0 MB/s`);
  expect(drawn[50]).toMatch(/^█+░+ {2} \d\d % {2}\d+\.\d MB of 1\.0 GB {2}100\.0 MB\/s {2}\d\.\d s left$/);
  for (const line of drawn) expect(line.length).toBeLessThan(80);
  const before = stderr().length;
  view.close();
  expect(stderr().slice(before)).toContain('\u001b[2K');
  expect(stripVTControlCharacters(stderr().slice(before)).trim()).toBe('');
  expect(stdout()).toBe('');
});

test('a narrow terminal has no bar', () => {
  const { bring, stderr } = setUp({ terminals: ['stderr'], columns: 30 });
  bring(10, { bytes: 1e8, ms: 1000, totalBytes: 1e9 });
  const drawn = stripVTControlCharacters(stderr())
    .split('\n')
    .filter((line) => line !== '');
  expect(drawn[4]).toBe(' 50 %  500.0 MB of 1.0 GB  1…');
  for (const line of drawn) expect(line).not.toContain('█');
});

test('a file without bytes, and a clock that stands still, are no trouble', () => {
  const { view, stderr } = setUp();
  view.show({ type: 'bytes', bytes: 0, totalBytes: 0 });
  view.show({ type: 'bytes', bytes: 5, totalBytes: 10 });
  view.show({ type: 'bytes', bytes: 10, totalBytes: 10 });
  expect(stderr()).not.toMatch(/NaN|Infinity/);
});
