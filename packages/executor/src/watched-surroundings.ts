import type { FilesystemReader, SessionReader } from '@holdfast/core';
import type { PolicySurroundings } from './policy-state.ts';

/** Surroundings that know whether a policy has looked at anything which other calls may change. */
export function watchSurroundings({ session, filesystem, deadline }: PolicySurroundings): {
  readonly surroundings: PolicySurroundings;
  looked(): boolean;
} {
  let looked = false;
  const noticing =
    <Parameters extends readonly unknown[], Answer>(method: (...parameters: Parameters) => Answer) =>
    (...parameters: Parameters): Answer => {
      looked = true;
      return method(...parameters);
    };
  const watchedSession: SessionReader = Object.freeze({
    read: noticing((slice) => session.read(slice)) as SessionReader['read'],
  });
  const watchedFilesystem: FilesystemReader | undefined =
    filesystem === undefined
      ? undefined
      : Object.freeze({
          resolve: noticing((path: string) => filesystem.resolve(path)),
          stat: noticing((path: string) => filesystem.stat(path)),
          read: noticing((path: string, options?: { readonly peek?: boolean }) => filesystem.read(path, options)),
          readText: noticing((path: string) => filesystem.readText(path)),
          list: noticing((path: string) => filesystem.list(path)),
          walk: noticing((path?: string) => filesystem.walk(path)),
        });
  return {
    surroundings: { session: watchedSession, filesystem: watchedFilesystem, deadline },
    looked: () => looked,
  };
}
