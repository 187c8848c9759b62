import * as vitest from 'vitest';
import { differences } from './differences.ts';

type Body = (...parameters: unknown[]) => unknown;

/** The checks of the suite that have run so far, by saver. */
export class JudgedChecks {
  readonly #ran = new Map<string, string[]>();

  ranOf(saver: string): readonly string[] {
    return this.#ran.get(saver) ?? [];
  }

  /** The suite takes `it`, `expect` and the like from the global scope, as any runner like Jest has them. */
  provide(): void {
    const { it, ...others } = vitest;
    const judged = (title: string, body: Body): void => it(title, () => this.#judge(body));
    const each =
      (cases: readonly unknown[]) =>
      (title: string, body: Body): void =>
        it.each(cases)(title, (item) => this.#judge(() => body(item)));
    // What is left out shows.
    const skip = (title: string): void => it(title, () => vitest.expect.fail('The suite leaves it out.'));
    Object.assign(globalThis, others, { it: Object.assign(judged, { each, skip }) });
  }

  /** A check has to pass, or not to pass where it is in the table. */
  async #judge(run: () => unknown): Promise<void> {
    // The title is that of its groups, too: `SAVER > SAVER#METHOD > GROUP > CHECK`.
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
    await vitest.expect(attempt(), 'It passes by now: take it out of the table.').rejects.toBeInstanceOf(Error);
  }
}
