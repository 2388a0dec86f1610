// The rules and dashboards as a monitoring mixin. Vendor the whole repository with jb, because the
// mixin imports the files that lie in alerts/ and grafana/.
{
  _config+:: {
    // Where the links of messages lead.
    dashboardHost: 'https://grafana.example.org',
    runbookHost: 'https://runbooks.example.org',
  },

  local rules = std.parseYaml(
    std.strReplace(
      std.strReplace(
        importstr '../../alerts/calibration.rules.yml',
        'https://grafana.example.org',
        $._config.dashboardHost
      ),
      'https://runbooks.example.org',
      $._config.runbookHost
    )
  ),

  // Recorded and alerting rules are one group: they are evaluated in the order of the file, so an
  // alert sees what was recorded a moment before.
  prometheusAlerts+:: rules,
  prometheusRules+:: { groups: [] },

  grafanaDashboards+:: {
    'calibration-fleet.json': import '../../grafana/dashboards/fleet.json',
    'calibration-model.json': import '../../grafana/dashboards/model.json',
  },
}
