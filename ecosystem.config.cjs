// pm2: the worker on a server. `npm ci --omit=dev`, fill .env, `npx pm2 start ecosystem.config.cjs`, `npx pm2 save`.
module.exports = {
  apps: [
    {
      name: 'gridloom',
      script: 'bin/gridloom.mjs',
      args: 'start',
      cwd: __dirname,
      // The Node that the project pins, whatever the server has.
      interpreter: './node_modules/.bin/node',
      // A worker waits more than it computes: see bin/launch.mjs, which cannot act under pm2.
      node_args: ['--max-semi-space-size=1', '--no-parallel-scavenge'],
      // A server without credentials must not fall back to the sandbox unnoticed.
      env: { GRIDLOOM_MODE: 'live', MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' },
      exec_mode: 'fork',
      instances: 1,
      autorestart: true,
      // 75: another worker holds the data directory; 78: configuration. Starting again would not help.
      stop_exit_codes: [0, 75, 78],
      exp_backoff_restart_delay: 1000,
      // Longer than timeouts.drain (20s), so that a stop drains instead of being killed.
      kill_timeout: 30000,
      time: false,
      merge_logs: true,
    },
  ],
};
