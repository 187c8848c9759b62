import * as vitest from 'vitest';
import { differences } from './differences.ts';

type Body = (...parameters: unknown[]) => unknown;

/** The checks of the suite that have run so far, by saver. */
export class JudgedChecks {
  readonly #ran = new Map<string, string[]>();

  ranOf(saver: string): readonly string[] {
    return this.#ran.get(saver) ?? [];
  }

  /** The suite uses global `it`, `expect` and so on, as in Jest. */
  provide(): void {
    const { it, ...others } = vitest;
    const judged = (title: string, body: Body): void => it(title, () => this.#judge(body));
    const each =
      (cases: readonly unknown[]) =>
      (title: string, body: Body): void =>
        it.each(cases)(title, (item) => this.#judge(() => body(item)));
    // Skipped checks fail.
    const skip = (title: string): void => it(title, () => vitest.expect.fail('The suite skips it.'));
    Object.assign(globalThis, others, { it: Object.assign(judged, { each, skip }) });
  }

  /** A check must pass, unless it is in the table: then it must fail. */
  async #judge(run: () => unknown): Promise<void> {
    // The title includes its groups: `SAVER > SAVER#METHOD > GROUP > CHECK`.
    const title = vitest.expect.getState().currentTestName ?? '';
    const [, saver = '', check = ''] = /([^>]+)#(.*)$/s.exec(title) ?? [];
    const name = saver.trim();
    const ran = this.#ran.get(name);
    if (ran === undefined) this.#ran.set(name, [check]);
    else ran.push(check);
    const isDifferent = differences.some((difference) => difference.saver === name && difference.check === check);
    if (!isDifferent) {
      await run();
      return;
    }
    const attempt = async (): Promise<unknown> => run();
    await vitest.expect(attempt(), 'It passes now: remove it from the table.').rejects.toBeInstanceOf(Error);
  }
}
