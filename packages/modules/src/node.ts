export { folderModules } from './files/folder.ts';
export { type SaveModuleOptions, saveModule } from './files/save.ts';
