import { errorsOf } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { Lease, type LeaseClock } from './lease.ts';
import { lockedSession } from './rows.ts';

/** A clock that only moves when told to. */
class ManualClock implements LeaseClock {
  #nowMs = 0;
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void }>();

  readonly now = (): number => this.#nowMs;

  readonly after = (delayMs: number, run: () => void): (() => void) => {
    const timer = { atMs: this.#nowMs + delayMs, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** Runs what is due on the way, and lets promises settle after each. */
  async moveTo(atMs: number): Promise<void> {
    for (;;) {
      const [next] = [...this.#timers].sort((a, b) => a.atMs - b.atMs);
      if (next === undefined || next.atMs > atMs) break;
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.run();
      await settle();
    }
    this.#nowMs = atMs;
  }

  /** As a stopped process: time passes, and no timer runs. */
  stopUntil(atMs: number): void {
    this.#nowMs = atMs;
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}

type Answer = 'held' | 'gone' | 'unreachable' | 'permission' | 'silent';

function leaseOf(answers: readonly Answer[]): { lease: Lease; clock: ManualClock; renewals: number[] } {
  const clock = new ManualClock();
  const renewals: number[] = [];
  const failed = errorsOf<'unreachable' | 'permission'>('log.database');
  const lease = new Lease({
    leaseMs: 1_200,
    clock,
    sentAtMs: 0,
    gone: () => lockedSession('a'),
    renew: () => {
      const answer = answers[renewals.length] ?? 'held';
      renewals.push(clock.now());
      if (answer === 'silent') return new Promise(() => undefined);
      if (answer === 'held' || answer === 'gone') return Promise.resolve(answer === 'held');
      return Promise.reject(failed(answer, `It is ${answer}.`));
    },
  });
  return { lease, clock, renewals };
}

test('a lease is renewed after a third, counted from the last statement that extended it', async () => {
  const { lease, clock, renewals } = leaseOf([]);
  await clock.moveTo(1_300);
  expect(renewals).toEqual([400, 800, 1_200]);
  lease.confirm(1_300);
  await clock.moveTo(1_750);
  expect(renewals).toEqual([400, 800, 1_200, 1_700]);
  lease.stop();
  await clock.moveTo(9_000);
  expect(renewals).toHaveLength(4);
  expect(lease.lost.aborted).toBe(false);
});

test('while renewals fail they are repeated; at half of the remaining time the lease is lost', async () => {
  const { lease, clock, renewals } = leaseOf(Array.from({ length: 20 }, () => 'unreachable'));
  await clock.moveTo(799);
  expect(renewals).toEqual([400, 500, 600, 700]);
  expect(lease.lost.aborted).toBe(false);
  lease.check();
  await clock.moveTo(800);
  expect(lease.lost.reason).toMatchObject({ code: 'log.database', reason: 'unreachable' });
  expect(() => lease.check()).toThrow(expect.objectContaining({ code: 'log.database' }));
  await clock.moveTo(5_000);
  expect(renewals).toHaveLength(4);
});

test('a renewal that succeeds in time keeps the lease', async () => {
  const { lease, clock, renewals } = leaseOf(['unreachable', 'unreachable', 'held']);
  await clock.moveTo(900);
  expect(renewals).toEqual([400, 500, 600]);
  expect(lease.lost.aborted).toBe(false);
});

test('a renewal without an answer counts as failed', async () => {
  const { lease, clock, renewals } = leaseOf(['silent']);
  await clock.moveTo(800);
  expect(renewals).toEqual([400]);
  expect(lease.lost.reason).toMatchObject({ code: 'log.locked' });
});

test.each([
  { answer: 'gone', code: 'log.locked' },
  { answer: 'permission', code: 'log.database' },
] as const)('a renewal that answers $answer loses the lease at once', async ({ answer, code }) => {
  const { lease, clock } = leaseOf([answer]);
  await clock.moveTo(400);
  expect(lease.lost.reason).toMatchObject({ code });
});

test('a process that was stopped past its lease finds it lost before any timer runs', () => {
  const { lease, clock } = leaseOf([]);
  clock.stopUntil(800);
  expect(() => lease.check()).toThrow(expect.objectContaining({ code: 'log.locked' }));
  expect(lease.lost.aborted).toBe(true);
});
