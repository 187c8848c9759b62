// The default theme with the reader's own fonts: nothing is loaded from anywhere else.
export { default } from 'vitepress/theme-without-fonts';

import './style.css';
