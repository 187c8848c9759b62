import { installFrameworks } from './install.ts';

export default function setUp(): void {
  installFrameworks();
}
