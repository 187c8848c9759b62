import type { FileEntry, FileStat, Filesystem, Json } from '@holdfast/core';
import type { HostRequests, Reply } from './host-requests.ts';

/** The call's filesystem, which is staged in the host and asked for by messages. What the host answers has the type it should. */
export function createRemoteFilesystem(requests: HostRequests): Filesystem {
  const ask = async (method: string, path: string, ...rest: readonly Json[]): Promise<Reply> =>
    await requests.ask(method, [String(path), ...rest]);
  return Object.freeze({
    resolve: async (path: string) => (await ask('resolve', path)).value as string,
    stat: async (path: string) => ((await ask('stat', path)).value ?? undefined) as FileStat | undefined,
    read: async (path: string, { peek = false }: { readonly peek?: boolean } = {}) =>
      (await ask('read', path, peek)).body ?? new Uint8Array(),
    readText: async (path: string) => (await ask('read-text', path)).value as string,
    list: async (path: string) => (await ask('list', path)).value as unknown as readonly FileEntry[],
    walk: (path = '') => walk(requests, path),
    write: async (path: string, content: string | Uint8Array) => {
      if (content instanceof Uint8Array) await requests.ask('write', [String(path)], content);
      else if (typeof content === 'string' && content.isWellFormed())
        await requests.ask('write', [String(path)], new TextEncoder().encode(content));
      // The filesystem has its own words for what it refuses.
      else await requests.ask('write', [String(path), typeof content === 'string' ? content : null]);
    },
    remove: async (path: string) => void (await ask('remove', path)),
    makeDirectory: async (path: string) => void (await ask('make-directory', path)),
  });
}

async function* walk(requests: HostRequests, path: string): AsyncGenerator<FileEntry, void, undefined> {
  const { value: id } = await requests.ask('walk', [String(path)]);
  for (;;) {
    const { value: entries } = await requests.ask('walk-on', [id]);
    const page = entries as unknown as readonly FileEntry[];
    if (page.length === 0) return;
    yield* page;
  }
}
