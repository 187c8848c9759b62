import type { Prompt, RenderedPrompt, SessionReader, Slice } from '@holdfast/core';
import type { Session } from '@holdfast/session';

/** A rendered prompt that knows what it was made of. */
export interface Page {
  readonly rendered: RenderedPrompt;
  /** Whether any state that rendering read has changed since. */
  isStale(): boolean;
}

/** Renders, and notes which slices were read: a prompt that reads none is never rendered again. */
export function renderTracked(prompt: Prompt, session: Session): Page {
  const seen = new Map<Slice, unknown>();
  const reader: SessionReader = {
    read<State>(slice: Slice<State>): State {
      const state = session.read(slice);
      // Only its identity is used from here on.
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
