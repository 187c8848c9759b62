import {
  type Filesystem,
  type FilesystemReader,
  HoldfastError,
  type ResourceTransaction,
  type StagedResource,
} from '@holdfast/core';
import type { FileEntry } from '@holdfast/core/types';
import { isFilePattern, type SecretPatterns, secretFinder } from '@holdfast/facts/rules';

/**
 * Hides secret files: a filesystem to bind in place of `filesystem`. Secret files are not listed, so searches skip them, and using one fails
 * with `path.invalid`. The same options as for `filesystemGuard` select the files; policies see the same files as tools.
 *
 * @throws HoldfastError `options.invalid`.
 */
export function withoutSecrets(
  filesystem: StagedResource<Filesystem, FilesystemReader>,
  options: SecretPatterns = {},
): StagedResource<Filesystem, FilesystemReader> {
  const known: readonly string[] = ['secrets', 'notSecret'] satisfies (keyof SecretPatterns)[];
  for (const [option, given] of Object.entries(options)) {
    if (!known.includes(option)) {
      throw new HoldfastError(
        'options.invalid',
        `\`${option}\` is not an option of \`withoutSecrets\`; options: \`secrets\`, \`notSecret\`.`,
      );
    }
    const patterns: unknown = given ?? [];
    if (Array.isArray(patterns) && patterns.every((pattern) => typeof pattern === 'string' && isFilePattern(pattern)))
      continue;
    throw new HoldfastError(
      'options.invalid',
      `\`${option}\` must list patterns of at most 500 characters with closed brackets, without \`..\` and \`\\\`.`,
    );
  }
  const isSecret = secretFinder(options);
  const { unsettled, recover } = filesystem;
  return Object.freeze({
    type: 'staged-resource',
    readOnly: Object.freeze(hideFrom(filesystem.readOnly, isSecret)),
    begin: (callId: string) => hideIn(filesystem.begin(callId), isSecret),
    ...(unsettled === undefined ? {} : { unsettled: () => unsettled.call(filesystem) }),
    ...(recover === undefined
      ? {}
      : { recover: (mark: string, committed: boolean) => recover.call(filesystem, mark, committed) }),
  });
}

type IsSecret = (key: string) => boolean;
type FileTransaction = ResourceTransaction<Filesystem, FilesystemReader>;

function hideIn(transaction: FileTransaction, isSecret: IsSecret): FileTransaction {
  const { view } = transaction;
  const reader = hideFrom(view, isSecret);
  return {
    // Uses the caller's spelling, which may itself be forbidden for writing.
    view: Object.freeze({
      ...reader,
      write: (path: string, content: string | Uint8Array) => reader.resolve(path).then(() => view.write(path, content)),
      remove: (path: string) => reader.resolve(path).then(() => view.remove(path)),
      makeDirectory: (path: string) => reader.resolve(path).then(() => view.makeDirectory(path)),
    }),
    readOnly: Object.freeze(hideFrom(transaction.readOnly, isSecret)),
    begin: (callId) => hideIn(transaction.begin(callId), isSecret),
    touched: () => transaction.touched(),
    seal: () => transaction.seal(),
    prepare: (mark) => transaction.prepare(mark),
    commit: () => transaction.commit(),
    discard: () => transaction.discard(),
  };
}

function hideFrom(files: FilesystemReader, isSecret: IsSecret): FilesystemReader {
  async function resolve(path: string): Promise<string> {
    const key = await files.resolve(path);
    if (!isSecret(key)) return key;
    throw new HoldfastError(
      'path.invalid',
      `\`${key.slice(-200).toWellFormed()}\` holds secrets and is hidden from tools.`,
      {
        data: { reason: 'protected', path: key },
      },
    );
  }
  const isOpen = ({ path }: FileEntry): boolean => !isSecret(path);
  return {
    resolve,
    stat: async (path) => files.stat(await resolve(path)),
    read: async (path, options) => files.read(await resolve(path), options),
    readText: async (path) => files.readText(await resolve(path)),
    list: async (path) => (await files.list(await resolve(path))).filter(isOpen),
    async *walk(path = '') {
      for await (const entry of files.walk(await resolve(path))) if (isOpen(entry)) yield entry;
    },
  };
}
