import type { Filesystem, FilesystemReader, ResourceTransaction, StagedResource } from '@holdfast/core';

/** The same files, of which a call sees what it has written itself, and nothing ever lands. */
export function toDryFilesystem(
  filesystem: StagedResource<Filesystem, FilesystemReader>,
): StagedResource<Filesystem, FilesystemReader> {
  return {
    type: 'staged-resource',
    readOnly: filesystem.readOnly,
    begin(callId) {
      const transaction = filesystem.begin(callId);
      const dry: ResourceTransaction<Filesystem, FilesystemReader> = {
        view: transaction.view,
        readOnly: transaction.readOnly,
        begin: (nestedId) => transaction.begin(nestedId),
        touched: () => transaction.touched(),
        seal: () => transaction.seal(),
        // On a disk that would write already.
        prepare: () => undefined,
        commit: () => transaction.discard(),
        discard: () => transaction.discard(),
      };
      return dry;
    },
  };
}
