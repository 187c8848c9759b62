export { folderModules } from './folder-modules.ts';
export { type SaveModuleOptions, saveModule } from './save-module.ts';
