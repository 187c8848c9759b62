import { adapterPackage, weightsPackage } from './local.ts';
import { parseProviderModel } from './provider-keys.ts';

/** The packages that are imported from the current folder to open the model `name`. */
export function packagesOfModel(name: string): readonly string[] {
  if (name === 'local') return [adapterPackage, weightsPackage];
  if (name.startsWith('local:')) return [adapterPackage];
  const provider = parseProviderModel(name);
  return provider === undefined ? [] : [provider.packageName];
}
