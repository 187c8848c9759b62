import { HoldfastError } from '@holdfast/core';

/** Names one document of overrides. `ns` and `key` are the prompt's. */
export interface OverrideRef {
  readonly ns: string;
  readonly key: string;
  /** Which document of the prompt: matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly tag: string;
}

const segment = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Does nothing for what can name a document. @throws HoldfastError `prompt.invalid`. */
export function checkOverrideRef({ ns, key, tag }: OverrideRef): void {
  const problem = Object.entries({ ns: ns.split('/'), key: [key], tag: [tag] }).find(
    ([, segments]) => !segments.every((name) => segment.test(name)),
  );
  if (problem === undefined) return;
  const [name, segments] = problem;
  const value = segments.join('/');
  throw new HoldfastError(
    'prompt.invalid',
    `The \`${name}\` \`${value}\` of overrides must ${name === 'ns' ? 'be segments joined by `/`, each matching' : 'match'} ${segment.source}.`,
    { data: { reason: 'override.ref', [name]: value } },
  );
}

/**
 * Keeps documents of overrides, as text that it need not understand. What it is given is checked: a `ref` has the form that
 * `OverrideRef` says.
 */
export interface OverrideStore {
  /** The stored document; `undefined` if there is none. */
  read(ref: OverrideRef): Promise<string | undefined>;
  /**
   * Stores a document. A concurrent reader gets the old or the new one, never a part. Returns false only with `ifAbsent`, if a document
   * exists.
   */
  write(ref: OverrideRef, document: string, options?: OverrideWriteOptions): Promise<boolean>;
  /** Does nothing if there is none. */
  delete(ref: OverrideRef): Promise<void>;
}

export interface OverrideWriteOptions {
  /** Keeps an existing document, including one written at the same moment. Default false. */
  readonly ifAbsent?: boolean;
}

/** Keeps documents of overrides for as long as the program runs. Methods throw HoldfastError `prompt.invalid`. */
export function memoryOverrides(): OverrideStore {
  const documents = new Map<string, string>();
  return Object.freeze({
    async read(ref: OverrideRef) {
      return documents.get(toId(ref));
    },
    async write(ref: OverrideRef, document: string, { ifAbsent = false }: OverrideWriteOptions = {}) {
      const id = toId(ref);
      if (ifAbsent && documents.has(id)) return false;
      documents.set(id, document);
      return true;
    },
    async delete(ref: OverrideRef) {
      documents.delete(toId(ref));
    },
  });
}

function toId(ref: OverrideRef): string {
  checkOverrideRef(ref);
  // No segment has a colon.
  return `${ref.ns}:${ref.key}:${ref.tag}`;
}
