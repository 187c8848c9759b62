import type { Filesystem, FilesystemReader, ResourceTransaction, StagedResource } from '@holdfast/core';

/** The same files, except that a call sees its own writes and none of them are committed. */
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
        // On a disk this would already write.
        prepare: () => undefined,
        commit: () => transaction.discard(),
        discard: () => transaction.discard(),
      };
      return dry;
    },
  };
}
