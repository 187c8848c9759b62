import { HoldfastError } from '@holdfast/core';

/** Names one document of overrides. `ns` and `key` are the prompt's. */
export interface OverrideRef {
  readonly ns: string;
  readonly key: string;
  /** Which document of the prompt: matches `^[a-z0-9][a-z0-9._-]{0,63}$`. */
  readonly tag: string;
}

const segment = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Does nothing for what can name a document. @throws HoldfastError `override.ref.invalid`. */
export function checkOverrideRef({ ns, key, tag }: OverrideRef): void {
  const problem = Object.entries({ ns: ns.split('/'), key: [key], tag: [tag] }).find(
    ([, segments]) => !segments.every((name) => segment.test(name)),
  );
  if (problem === undefined) return;
  const [name, segments] = problem;
  const value = segments.join('/');
  throw new HoldfastError(
    'override.ref.invalid',
    `The \`${name}\` \`${value}\` of overrides must ${name === 'ns' ? 'be segments joined by `/`, each matching' : 'match'} ${segment.source}.`,
    { data: { [name]: value } },
  );
}
