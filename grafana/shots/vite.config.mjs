// The names that Grafana's packages import but do not publish are of no use to pictures.
export default {
  base: './',
  build: { chunkSizeWarningLimit: 20000, rolldownOptions: { shimMissingExports: true } },
  define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
};
