import { readFileSync } from 'node:fs';

// Grafana's styles ask for its font where a Grafana server has it.
const font = {
  name: 'font',
  generateBundle() {
    for (const weight of ['Regular', 'Medium']) {
      const source = readFileSync(`node_modules/inter-ui/web/Inter-${weight}.woff2`);
      this.emitFile({ type: 'asset', fileName: `public/fonts/inter/Inter-${weight}.woff2`, source });
    }
  },
};

// The names that Grafana's packages import but do not publish are of no use to pictures.
export default {
  base: './',
  build: { chunkSizeWarningLimit: 20000, rolldownOptions: { shimMissingExports: true } },
  define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
  plugins: [font],
};
