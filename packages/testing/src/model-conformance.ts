import { HoldfastError, type Model } from '@holdfast/core';
import { type ModelNeed, modelChecks } from './model-checks.ts';
import type { ScriptedTurn } from './scripted-model.ts';
import type { ConformanceCheck } from './store-conformance.ts';

/** What a provider answers to one request: a message, or what goes wrong. */
export type ProviderReply = ScriptedTurn | { readonly throw: unknown };

/** A model whose provider is played by a test. */
export interface ModelUnderTest {
  readonly model: Model;
  /** What the provider was sent, one for each request, in the provider's own form: names and texts are looked for in it. */
  readonly sent: () => readonly unknown[];
}

export interface ModelConformanceOptions {
  /** A new model, whose provider gives `replies`, one for each request. */
  readonly create: (replies: readonly ProviderReply[]) => ModelUnderTest | Promise<ModelUnderTest>;
  /** What the provider has not: tools, schemas for what it answers, schemas beside tools, token counts. Default: it has all. */
  readonly without?: readonly ModelNeed[];
}

/**
 * What a `Model` has to do, for any test runner: each check is one test, `test(name, run)`, and makes a model of its own.
 */
export function modelConformance({ create, without = [] }: ModelConformanceOptions): readonly ConformanceCheck[] {
  return modelChecks.map(({ name, replies, needs = [], run }) => {
    const lacking = needs.find((need) => without.includes(need));
    const skipped = lacking === undefined ? undefined : `the provider is without \`${lacking}\``;
    return {
      name,
      skipped,
      run: async () => {
        if (skipped !== undefined) {
          throw new HoldfastError('conformance.skipped', `Not checked, \`${name}\`: ${skipped}.`);
        }
        await run(await create(replies));
      },
    };
  });
}
