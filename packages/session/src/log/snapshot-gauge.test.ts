import { expect, test } from 'vitest';
import { SnapshotGauge } from './snapshot-gauge.ts';

test('due after the given bytes, and at least three times the last snapshot', () => {
  const gauge = new SnapshotGauge({ snapshotAfterBytes: 100 });
  expect(gauge.due).toBe(false);
  gauge.note('event', 99);
  expect(gauge.due).toBe(false);
  gauge.note('event', 1);
  expect(gauge.due).toBe(true);
  gauge.note('snapshot', 1_000);
  gauge.note('event', 2_999);
  expect(gauge.due).toBe(false);
  gauge.note('event', 1);
  expect(gauge.due).toBe(true);
  gauge.note('snapshot', 1);
  gauge.note('event', 100);
  expect(gauge.due).toBe(true);
});

test('a failed snapshot is not retried at once', () => {
  const gauge = new SnapshotGauge({ snapshotAfterBytes: 10 });
  gauge.note('event', 10);
  gauge.postpone();
  gauge.note('event', 9);
  expect(gauge.due).toBe(false);
  gauge.note('event', 1);
  expect(gauge.due).toBe(true);
});

test('default 8 MiB; 0: after every record except a snapshot; Infinity: never', () => {
  const usual = new SnapshotGauge({});
  usual.note('event', 8 * 1024 * 1024 - 1);
  expect(usual.due).toBe(false);
  usual.note('event', 1);
  expect(usual.due).toBe(true);
  const always = new SnapshotGauge({ snapshotAfterBytes: 0 });
  always.note('snapshot', 0);
  expect(always.due).toBe(false);
  always.note('event', 1);
  expect(always.due).toBe(true);
  const never = new SnapshotGauge({ snapshotAfterBytes: Number.POSITIVE_INFINITY });
  never.note('event', Number.MAX_SAFE_INTEGER);
  expect(never.due).toBe(false);
});

test.each([-1, Number.NaN, '1'])('options.invalid: %j', (snapshotAfterBytes) => {
  // As from untyped JavaScript.
  expect(() => new SnapshotGauge({ snapshotAfterBytes: snapshotAfterBytes as number })).toThrow(
    expect.objectContaining({ code: 'options.invalid' }),
  );
});
