export {
  type FolderEvents,
  type FolderWatch,
  type WatchFolder,
  type WatchFoldersOptions,
  watchFolders,
} from './disk/watch-folders.ts';
