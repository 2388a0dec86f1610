// The rules and dashboards as a monitoring mixin. Vendor the whole repository with jb, because the
// mixin imports the files that lie in alerts/ and grafana/.
{
  _config+:: {
    // Where the links of messages and dashboards lead.
    dashboardHost: 'https://grafana.example.org',
    runbookHost: 'https://runbooks.example.org',
    alertmanagerHost: 'https://alertmanager.example.org',
    // How many rows the table of all models shows: as `assets --models` does.
    models: 10,
  },

  local hosts = {
    'https://grafana.example.org': $._config.dashboardHost,
    'https://runbooks.example.org': $._config.runbookHost,
    'https://alertmanager.example.org': $._config.alertmanagerHost,
  },
  local withHosts(text) = std.foldl(
    function(done, host) std.strReplace(done, host, hosts[host]), std.objectFields(hosts), text
  ),

  // As monitor/export/fleet_dashboard.py: the table is the first panel.
  local asHighAsRows(dashboard) =
    local height = std.ceil((36 * (std.min($._config.models, 40) + 1) + 58) / 38);
    local more = height - dashboard.panels[0].gridPos.h;
    dashboard {
      panels: [
        panel { gridPos+: if place == 0 then { h: height } else { y: panel.gridPos.y + more } }
        for place in std.range(0, std.length(dashboard.panels) - 1)
        for panel in [dashboard.panels[place]]
      ],
    },

  // Recorded and alerting rules are one group: they are evaluated in the order of the file, so an
  // alert sees what was recorded a moment before.
  prometheusAlerts+:: std.parseYaml(withHosts(importstr '../../alerts/calibration.rules.yml')),
  prometheusRules+:: { groups: [] },

  grafanaDashboards+:: {
    'calibration-fleet.json': asHighAsRows(
      std.parseJson(withHosts(importstr '../../grafana/dashboards/fleet.json'))
    ),
    'calibration-model.json': std.parseJson(withHosts(importstr '../../grafana/dashboards/model.json')),
    'calibration-errors.json': std.parseJson(withHosts(importstr '../../grafana/dashboards/errors.json')),
    'calibration-data.json': std.parseJson(withHosts(importstr '../../grafana/dashboards/data.json')),
  },
}
