import type { Prompt, SessionReader, Slice } from '@holdfast/core';
import type { Guide, Problem, RenderedPrompt } from '@holdfast/core/types';
import type { Session } from '@holdfast/session';

/** A rendered prompt that tracks the state it was rendered from. */
export interface Page {
  readonly rendered: RenderedPrompt;
  /** True if any slice read during rendering has changed since. */
  isStale(): boolean;
}

/** Renders and tracks the slices read: a prompt that reads none is never rendered again. */
export function renderTracked(prompt: Prompt, session: Session): Page {
  const seen = new Map<Slice, unknown>();
  const reader: SessionReader = {
    read<State>(slice: Slice<State>): State {
      const state = session.read(slice);
      // Only its identity is used.
      seen.set(slice as Slice, state);
      return state;
    },
  };
  const rendered = prompt.render({ session: reader });
  return {
    rendered,
    isStale() {
      for (const [slice, state] of seen) if (session.read(slice) !== state) return true;
      return false;
    },
  };
}

/** The problem of a page that declares something but was loaded without its code; `undefined` for a complete page. */
export function findMissing({ guide, output, completion, feedback = [] }: RenderedPrompt): Problem | undefined {
  const declared =
    output !== undefined
      ? 'output'
      : completion !== undefined
        ? 'completion'
        : feedback.length > 0
          ? 'feedback'
          : undefined;
  if (declared === undefined || guideMethods.every((name) => typeof guide?.[name] === 'function')) return undefined;
  const message = `The prompt has \`${declared}\` without \`guide\`, the code for it: create the prompt with \`createPrompt\`.`;
  return { code: 'feature.missing', message, data: { feature: declared } };
}

const guideMethods = ['giveFeedback', 'countLast', 'judgeAnswer'] as const satisfies readonly (keyof Guide)[];
