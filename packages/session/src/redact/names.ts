/**
 * Names whose values are always secret. A name matches if its last words do: `dbPassword`, `DB_PASSWORD` and `db-password` end in
 * `password`. `token` does not count after a word that makes it a list position (`nextPageToken`).
 */
export const defaultSecretKeys: readonly string[] = Object.freeze([
  'password',
  'passwd',
  'pwd',
  'passphrase',
  'passcode',
  'password_confirmation',
  'secret',
  'secrets',
  'secret_key',
  'client_secret',
  'token',
  'access_token',
  'refresh_token',
  'api_key',
  'access_key',
  'account_key',
  'private_key',
  'signing_key',
  'encryption_key',
  'authorization',
  'cookie',
  'cookies',
  'otp',
  'cvv',
  'cvc',
]);

const positions: ReadonlySet<string> = new Set([
  'page',
  'next',
  'prev',
  'previous',
  'continuation',
  'cursor',
  'sync',
  'start',
  'end',
  'stop',
  'pad',
  'eos',
  'bos',
  'max',
  'min',
  'cancel',
  'cancellation',
]);

const word = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g;
/** Only the end of a name is examined: a hostile one may have a million characters. */
const maxLength = 128;
/** Names of at least this length also match at the end of a word: `dbpassword`. */
const tellingLength = 8;

/** Creates a function that recognizes secret names. */
export function createNameTest(names: readonly string[]): (name: string) => boolean {
  const listed = new Set(names.map((name) => wordsOf(name).join('')).filter((name) => name !== ''));
  const telling = [...listed].filter((name) => name.length >= tellingLength);
  const known = new Map<string, boolean>();
  const test = (name: string): boolean => {
    const words = wordsOf(name);
    const whole = words.join('');
    if (telling.some((end) => whole.endsWith(end))) return true;
    let end = '';
    for (let index = words.length - 1; index >= 0; index -= 1) {
      end = `${words[index]}${end}`;
      if (!listed.has(end)) continue;
      return end !== 'token' || !positions.has(words[index - 1] ?? '');
    }
    return false;
  };
  return (name) => {
    const tail = name.slice(-maxLength);
    let answer = known.get(tail);
    if (answer === undefined) {
      answer = test(tail);
      // Names may come from anyone, so the cache is limited.
      if (known.size >= 1_000) known.clear();
      known.set(tail, answer);
    }
    return answer;
  };
}

function wordsOf(name: string): readonly string[] {
  return (name.match(word) ?? []).map((part) => part.toLowerCase());
}
