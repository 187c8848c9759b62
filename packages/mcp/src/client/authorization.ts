import { type OAuthClientProvider, OAuthError, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';

/** The host's provider has thrown. */
class ProviderFailure extends Error {}

/** Texts that must not appear in an error: servers repeat what they were sent. */
export class Secrets {
  readonly #known = new Set<string>();

  learn(value: unknown): void {
    // A short value would blank out words that only look like it.
    if (typeof value === 'string' && value.length >= 6) this.#known.add(value);
  }

  hide(text: string): string {
    let hidden = text;
    for (const secret of this.#known) hidden = hidden.replaceAll(secret, '[hidden]');
    return hidden;
  }

  isIn(text: string): boolean {
    return this.hide(text) !== text;
  }
}

/** Learns the values of headers, and the token of a header with a scheme. */
export function learnHeaders(headers: Readonly<Record<string, string>>, secrets: Secrets): void {
  for (const value of Object.values(headers)) {
    secrets.learn(value);
    secrets.learn(/^\S+ (\S+)$/.exec(value)?.[1]);
  }
}

const told: readonly string[] = ['access_token', 'refresh_token', 'id_token', 'client_secret'];

/** The host's provider, with its secrets learned and its errors marked as its own. */
export function watchProvider(provider: OAuthClientProvider, secrets: Secrets): OAuthClientProvider {
  const learn = <Value>(value: Value): Value => {
    if (typeof value === 'object' && value !== null) for (const key of told) secrets.learn(Reflect.get(value, key));
    return value;
  };
  const fail = (cause: unknown): never => {
    throw new ProviderFailure('The authorization provider failed.', { cause });
  };
  return new Proxy(provider, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        given.forEach(learn);
        try {
          const returned: unknown = Reflect.apply(value, target, given);
          return returned instanceof Promise ? returned.then(learn, fail) : learn(returned);
        } catch (thrown) {
          return fail(thrown);
        }
      };
    },
  });
}

/** Why a request was not let in; `undefined` if that was not the reason. The words of the authorization server are left out. */
export function describeRefusal(thrown: unknown): string | undefined {
  // Its words may be of a keychain.
  if (thrown instanceof ProviderFailure) return 'the authorization provider failed';
  if (OAuthError.isInstance(thrown)) {
    const code = /^[a-z_]{1,60}$/.test(thrown.code) ? ` (\`${thrown.code}\`)` : '';
    return `the authorization server refused${code}`;
  }
  if (UnauthorizedError.isInstance(thrown)) return 'no one has signed in';
  if (SdkHttpError.isInstance(thrown) && (thrown.status === 401 || thrown.status === 403)) {
    return `the server refused access (HTTP ${thrown.status})`;
  }
  return thrown instanceof Error && thrown.cause !== undefined ? describeRefusal(thrown.cause) : undefined;
}
